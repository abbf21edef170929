# softhash with its server, without torch: index, search and serve on a processor.
#
#   docker build -t softhash .
#   docker compose up        # see compose.yaml
#
# Train where torch is: pip install 'softhash[train]'.

ARG PYTHON=3.11

FROM python:${PYTHON}-slim AS build
WORKDIR /source
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src ./src
RUN python -m venv /opt/softhash \
    && /opt/softhash/bin/pip install --no-cache-dir -c constraints.txt '.[serve]'

FROM python:${PYTHON}-slim
COPY --from=build /opt/softhash /opt/softhash
# The folders of indexes and of what can be made again, owned by the user of the container.
RUN useradd --uid 10001 --create-home --shell /usr/sbin/nologin softhash \
    && install -d -o softhash -g softhash -m 0700 /data /cache
ENV PATH=/opt/softhash/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    XDG_DATA_HOME=/data \
    XDG_CACHE_HOME=/cache \
    NUMBA_CACHE_DIR=/cache/numba
USER softhash
VOLUME ["/data", "/cache"]
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/api/v1/health', timeout=4)"]
ENTRYPOINT ["softhash"]
CMD ["serve", "--host", "0.0.0.0"]
