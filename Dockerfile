# JupyterLab with ExploraCoder, for one user:
#
#   docker build --tag exploracoder .
#   docker run --rm --publish 127.0.0.1:8888:8888 --volume exploracoder-home:/home/user exploracoder
#
# As the image of a JupyterHub's users, and with your own libraries beside it:
#
#   docker build --build-arg PACKAGES='jupyterhub==5.* tidemark' --tag exploracoder-hub .

ARG BASE=debian:bookworm-slim

FROM ${BASE} AS wheel
RUN apt-get update && apt-get install --yes --no-install-recommends python3-venv
COPY . /source
RUN python3 -m venv /build && /build/bin/pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /source

FROM ${BASE}
# libgomp1 is what the embedded model needs, bubblewrap the sandbox where the container may have one.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends bubblewrap ca-certificates libgomp1 python3-venv \
 && rm -rf /var/lib/apt/lists/*
ARG PACKAGES=""
RUN --mount=type=bind,from=wheel,source=/wheels,target=/wheels \
    python3 -m venv /opt/exploracoder \
 && /opt/exploracoder/bin/pip install --no-cache-dir "$(echo /wheels/*.whl)[lab,mcp,widgets]" ${PACKAGES}
ENV PATH="/opt/exploracoder/bin:$PATH" LANG=C.UTF-8
# The home is to be a volume: notebooks, settings, indexes and the embedded model's weights are there.
RUN useradd --create-home --uid 1000 --non-unique user
USER user
WORKDIR /home/user
EXPOSE 8888
CMD ["jupyter", "lab", "--ip=0.0.0.0", "--no-browser"]
