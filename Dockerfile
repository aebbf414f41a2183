# ralph and the agents it runs, for a container. docs/runners.md says what is
# in it, why, and how to have your own toolchain in it.
#
# Images are named by version here. make image takes each by the digest that
# its name stands for, where it reaches them, and writes the base's into a label.
ARG GO_IMAGE=golang:1.26.8-bookworm
ARG NODE_IMAGE=node:22.20.0-bookworm-slim
ARG BASE_IMAGE=debian:12.14-slim

FROM ${GO_IMAGE} AS build
# Where modules come from, if not from their usual place; so for npm below. The
# secret `certificates` is a file of those that a company's network wants trusted.
ARG GOPROXY GOSUMDB
ENV CGO_ENABLED=0 GOTOOLCHAIN=local GOMODCACHE=/cache/mod GOCACHE=/cache/build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/cache --mount=type=secret,id=certificates \
    if [ -s /run/secrets/certificates ]; then export SSL_CERT_FILE=/run/secrets/certificates; fi \
 && go mod download
COPY cmd cmd
COPY internal internal
COPY templates templates
ARG VERSION=dev
RUN --mount=type=cache,target=/cache \
    go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /ralph ./cmd/ralph

FROM ${NODE_IMAGE} AS agents
ARG NPM_CONFIG_REGISTRY
WORKDIR /agents
COPY tools/agents/package.json tools/agents/package-lock.json tools/image/agents.sh tools/image/npm.sh ./
ARG AGENTS="claude codex"
RUN --mount=type=cache,target=/root/.npm --mount=type=secret,id=certificates \
    if [ -s /run/secrets/certificates ]; then export NODE_EXTRA_CA_CERTS=/run/secrets/certificates; fi \
 && sh agents.sh ${AGENTS}

FROM ${BASE_IMAGE}
# A base may name somebody else; packages are root's to bring, and a runner
# starts an action as root.
USER root
# Packages of Debian's that your checks need, as in "make gcc python3".
ARG TOOLCHAIN=""
# "none" leaves out the agents, and what git needs for its mail and Subversion
# commands alone: Perl. apt then finds unmet dependencies, so such an image is no base.
ARG AGENTS
# The agent is uid 1500, which gets a name because some programs do not start
# without one, and no way to become root. What a runner starts last is a script
# for bash, since others drop variables with a dash in their names: the inputs.
RUN --mount=type=cache,target=/var/cache/apt,sharing=locked --mount=type=cache,target=/var/lib/apt/lists,sharing=locked \
    rm -f /etc/apt/apt.conf.d/docker-clean \
 && apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates git ${TOOLCHAIN} \
 && if [ "${AGENTS:-}" = none ]; then \
      apt-get install --yes --no-install-recommends curl \
   && dpkg-query --show --showformat '${Package}\n' | grep -E '^(perl|perl-modules-.*|libperl5.*|liberror-perl|libgdbm.*|git-man)$' | xargs dpkg --purge --force-depends; \
    fi \
 && useradd --uid 1500 --user-group --no-create-home --home-dir /nonexistent --shell /bin/bash agent \
 && find / -xdev -type f -perm /6000 -exec chmod a-s {} + \
 && printf '#!/bin/bash\nexec ralph action --finish\n' >/usr/local/bin/ralph-finish \
 && chmod 755 /usr/local/bin/ralph-finish \
 && rm -rf /var/log/apt /var/log/dpkg.log /var/log/alternatives.log
COPY --from=agents /out/ /
COPY --from=build /ralph /usr/local/bin/ralph
ARG BASE_NAME=""
LABEL org.opencontainers.image.title=ralph \
      org.opencontainers.image.licenses=Apache-2.0 \
      org.opencontainers.image.base.name=${BASE_NAME}
ENTRYPOINT ["ralph"]
