import json
import os
import subprocess
import sys

import numpy as np
import pytest
from command import run

import softhash

RNG = np.random.default_rng(0)


@pytest.fixture
def arrays(tmp_path):
    labels = (RNG.random((80, 5)) < 0.4).astype(np.uint8)
    labels[:, 0] |= ~labels.any(axis=1)
    codes = softhash.pack(RNG.normal(size=(80, 12)))
    files = {
        "--query-codes": codes[:20],
        "--database-codes": codes[20:],
        "--query-labels": labels[:20],
        "--database-labels": labels[20:],
    }
    arguments = []
    for option, array in files.items():
        path = tmp_path / f"{option[2:]}.npy"
        np.save(path, array)
        arguments += [option, path]
    return arguments


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from softhash.cli._app import app\n"
        "app(['--help'], standalone_mode=False)\n"
        "print({'torch', 'numba', 'numpy', 'PIL'} & set(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "evaluate" in done.stdout
    assert done.stderr.strip() == "set()"


def test_help_keeps_brackets():
    assert "[grid]" in run("bench", "--help").stdout


def test_version_goes_to_stdout():
    done = run("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"softhash {softhash.__version__}\n"


def test_evaluate_prints_json_on_stdout_alone(arrays):
    done = run("evaluate", *arrays, "--bits", 12, "--at", "10,all", "--json", "--curves")
    assert done.returncode == 0
    report = json.loads(done.stdout)
    assert set(report) == {"metrics", "standard_errors", "curves", "codes", "contract"}
    assert 0 < report["metrics"]["map@10"] <= 1
    assert 0 < report["standard_errors"]["map@10"] < 0.5
    assert report["contract"]["ties"] == "expected"


def test_evaluate_prints_a_table_and_saves(arrays, tmp_path):
    done = run("evaluate", *arrays, "--bits", 12, "-o", tmp_path / "report.json")
    assert done.returncode == 0
    report = json.loads((tmp_path / "report.json").read_text())
    value, error = (report[name]["map@all"] for name in ("metrics", "standard_errors"))
    assert f"{value:.4f} ± {error:.4f}" in done.stdout
    assert "@all" in done.stdout
    assert "saved" in done.stderr
    assert report["contract"]["bits"] == 12
    again = run("evaluate", *arrays, "--bits", 12, "-o", tmp_path / "report.json")
    assert again.returncode == 1
    assert "--force" in again.stderr


def test_queries_without_labels_are_said_once(arrays, tmp_path):
    labels = np.load(tmp_path / "query-labels.npy")
    labels[:3] = 0
    np.save(tmp_path / "query-labels.npy", labels)
    done = run("evaluate", *arrays, "--bits", 12, "--json")
    assert done.returncode == 0
    assert done.stderr.count("3 of 20 queries have no label and were left out") == 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["evalute"], 2, "Did you mean 'evaluate'?"),
        (["evaluate"], 2, "give MODEL and DATA; or MODEL, --query-features"),
        (["evaluate", "--rescore", "bits", "--bits", "3"], 2, "give MODEL and DATA"),
        (["evaluate", "--bitz", "3"], 2, "--bits"),
        (["evaluate", "--bits", "many"], 2, "'many' is not a number of bits"),
    ],
)
def test_wrong_use_is_one_line_and_exit_2(arguments, code, message):
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("extra", "code", "message"),
    [
        (["--bits", 64], 1, "64 bits need 8 columns"),
        (["--bits", 0], 2, "1 to 1024 bits, not 0"),
        (["--bits", 12, "--at", "x"], 2, "cut-off 'x'"),
        (["--bits", 12, "--ties", "expcted"], 2, "did you mean 'expected'"),
        (["--bits", 12, "--device", "gpu"], 2, "unknown device 'gpu'"),
    ],
)
def test_bad_input_is_one_line_and_no_traceback(arrays, extra, code, message):
    done = run("evaluate", *arrays, *extra)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1


def test_rows_that_do_not_match_name_the_files(arrays, tmp_path):
    np.save(tmp_path / "query-labels.npy", np.ones((19, 5)))
    done = run("evaluate", *arrays, "--bits", 12)
    assert done.returncode == 1
    assert "query-codes.npy has 20 rows" in done.stderr
    assert "query-labels.npy 19" in done.stderr


def test_verbose_shows_the_traceback_wherever_it_stands(arrays):
    for arguments in (["-v", "evaluate", *arrays], ["evaluate", *arrays, "-v"]):
        done = run(*arguments, "--bits", 64)
        assert "Traceback" in done.stderr
        assert done.returncode == 1


def test_compilation_is_said_when_there_is_no_cache(arrays, tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    arguments = ["evaluate", *arrays, "--bits", 12, "--json"]
    first, second = (run(*arguments, env=environment) for _ in range(2))
    assert first.stderr.count("compiling kernels") == 1
    assert second.stderr == ""
    assert first.stdout == second.stdout


def test_an_interrupt_is_exit_130():
    code = (
        "import os, signal, sys; import softhash.cli._app as a\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it\n"
        "sys.argv = ['softhash', 'interrupted']\n"
        "a.app.command('interrupted')(lambda: os.kill(os.getpid(), signal.SIGINT))\n"
        "a.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 130
    assert done.stderr == "error: interrupted\n"


@pytest.mark.parametrize("extra", [[], ["--json"]])
def test_a_closed_pipe_is_no_traceback(arrays, extra):
    command = [sys.executable, "-m", "softhash", "evaluate", *map(str, arrays), "--bits", "12"]
    process = subprocess.Popen(
        [*command, *extra], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    process.wait()
