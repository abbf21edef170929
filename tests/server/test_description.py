"""The description of the API, tried out by a program that reads it."""

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS
from schemathesis.checks import load_all_checks as load_checks
from serving import TOKEN

from softhash.server import create_app

load_checks()
WANTED = CHECKS.get_by_names(
    [
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_schema_conformance",
        "allow_header_conformance",
        "unsupported_method",
    ]
)
QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.large_base_example]


def attempt(index, mode, **options):
    """Send requests to every route that are as described, or that are not."""
    app = create_app(index, writable=True, token=TOKEN)
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
    routes = [found.ok() for found in schema.get_all_operations()]
    for route in routes:
        told = schema.raw_schema["paths"][route.path][route.method]
        if mode is GenerationMode.NEGATIVE and not {"parameters", "requestBody"} & set(told):
            continue  # nothing can be wrong about such a request

        @settings(suppress_health_check=QUIET, database=None, **options)
        @given(case=route.as_strategy(generation_mode=mode))
        def answer(case):
            case.call_and_validate(headers={"Authorization": f"Bearer {TOKEN}"}, checks=WANTED)

        answer()
    return {f"{route.method.upper()} {route.path}" for route in routes}


@pytest.mark.parametrize("mode", GenerationMode)
def test_answers_are_as_described(writable, mode):
    tried = attempt(writable, mode, max_examples=5, derandomize=True)
    assert tried == {
        "GET /api/v1/health",
        "GET /api/v1/index",
        "GET /api/v1/items",
        "POST /api/v1/items",
        "GET /api/v1/items/{id}",
        "DELETE /api/v1/items/{id}",
        "GET /api/v1/items/{id}/image",
        "GET /api/v1/items/{id}/file",
        "GET /api/v1/archive",
        "GET /api/v1/folders",
        "GET /api/v1/items/{id}/similar",
        "POST /api/v1/search",
        "POST /api/v1/encode",
        "GET /api/v1/duplicates",
        "GET /api/v1/report",
        "GET /api/v1/words",
        "GET /metrics",
    }


@pytest.mark.slow
@pytest.mark.parametrize("mode", GenerationMode)
def test_answers_to_many_questions_are_as_described(writable, mode):
    attempt(writable, mode, max_examples=80)
