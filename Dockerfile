# ralph and the agent it runs. A toolchain for your checks is not in it: build
# an image FROM this one that has yours.
ARG GO_IMAGE=golang:1.26-bookworm
ARG BASE_IMAGE=node:22-bookworm-slim

FROM ${GO_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /ralph ./cmd/ralph

FROM ${BASE_IMAGE}
ARG CLAUDE_CODE_VERSION=2.1.328
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates git \
 && rm -rf /var/lib/apt/lists/* \
 && npm install --global "@anthropic-ai/claude-code@${CLAUDE_CODE_VERSION}" \
 && npm cache clean --force
COPY --from=build /ralph /usr/local/bin/ralph
ENTRYPOINT ["ralph"]
