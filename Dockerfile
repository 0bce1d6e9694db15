# The two commands of README.md in a container, on a CPU:
#   docker build --tag prenet .
#   docker run --rm --volume "$PWD/dataset:/prenet/dataset" --volume "$PWD/results:/prenet/results" prenet ./run_seen.sh
#   docker run --rm prenet ./run_tests.sh
# Both folders must be writable for user 1000, or pass --user "$(id -u):$(id -g)".
FROM python:3.12.11-slim-bookworm@sha256:519591d6871b7bc437060736b9f7456b8731f1499a57e22e6c285135ae657bf7

# one thread for each process: the drivers start as many processes as --jobs says
ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    MPLCONFIGDIR=/tmp/matplotlib \
    PYTHONPATH=/prenet \
    OMP_NUM_THREADS=1 \
    OPENBLAS_NUM_THREADS=1 \
    MKL_NUM_THREADS=1 \
    TF_NUM_INTRAOP_THREADS=1 \
    TF_NUM_INTEROP_THREADS=1

RUN useradd --create-home --uid 1000 prenet && install --directory --owner prenet --group prenet /prenet
USER 1000:1000
WORKDIR /prenet

# the requirements before the code: a change of the code installs nothing again
COPY --chown=prenet:prenet setup_env.sh requirements* ./
RUN ["bash", "-euo", "pipefail", "-c", "REQUIREMENTS=requirements-dev.txt source ./setup_env.sh"]

COPY --chown=prenet:prenet . .
VOLUME ["/prenet/dataset", "/prenet/results"]
ENV PATH="/prenet/.venv/bin:$PATH"
CMD ["./run_seen.sh"]
