package environ_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/lib/environ"
)

// Behind a sandbox an environment is what toolchains go by: a secret need not be
// called one to stay out.
func TestPlain(t *testing.T) {
	harmless := []string{
		"PATH=/bin", "LC_TIME=C", "GOFLAGS=-mod=mod", "GOPROXY=https://proxy.example,direct", "CARGO_HOME=/c", "RUST_LOG=debug", "NODE_OPTIONS=--x",
		"npm_config_cache=/n", "PYTHONPATH=lib", "VIRTUAL_ENV=/v", "JAVA_HOME=/j", "MAVEN_OPTS=-Xmx1g", "GRADLE_OPTS=-x", "CI=1", "GOPRIVATE=a.example",
		"JAVA_OPTS=-Dtokens.file=/t -Xmx1g", "LIBRARY_PATH=/opt/secret:/opt/openssl@3/lib", "PATH=/token=x", "CARGO_HTTP_PROXY=proxy.example:8080",
	}
	secret := []string{
		"DATABASE_URL=postgres://db/shop", "GH_PAT=x", "MYSQL_PWD=x", "OPENAI_KEY=x", "DOCKER_AUTH_CONFIG={}", "SLACK_WEBHOOK=https://hooks.example/x",
		"GOOGLE_APPLICATION_CREDENTIALS=/k", "GOOGLE_API_KEY=x", "GITHUB_TOKEN=x", "GITHUB_OUTPUT=/f", "DISPLAY=:0", "SSH_AUTH_SOCK=/s",
		"npm_config__auth=x", "npm_config_//registry.example/:_authToken=x", "npm_config_key=x", "NODE_AUTH_TOKEN=x", "CARGO_REGISTRIES_X_TOKEN=x",
		"POETRY_PYPI_TOKEN_X=x", "POETRY_HTTP_BASIC_X_PASSWORD=x", "UV_INDEX_X_PASSWORD=x", "YARN_NPM_AUTH_IDENT=a:b", "MAVEN_GPG_PASSPHRASE=x",
		"GRADLE_PUBLISH_KEY=x", "BUNDLE_GEMS__EXAMPLE=a:b", "GEM_HOST_API_KEY=x", "COREPACK_NPM_PASSWORD=x", "DENO_AUTH_TOKENS=x",
		"PIP_INDEX_URL=https://ada:word@pypi.example/simple", "GOPROXY=https://ada@proxy.example", "HTTPS_PROXY=http://ada:word@proxy.example:8080",
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://c", "MAVEN_ARGS=-Dx=ghp_0123456789abcdefghijABCDEFGHIJ012345", "OF_MINE=x",
		"JAVA_OPTS=-Ddb.password=word", "JAVA_TOOL_OPTIONS=-Dhttp.proxyPassword=word", "GRADLE_OPTS=-Dorg.gradle.project.apiKey='x'", "MAVEN_OPTS=-Xmx1g -Drepo.token=x",
		"PYTEST_ADDOPTS=--password x", "MAVEN_ARGS=-Dnexus.pwd=x", "GRADLE_OPTS=-PossrhPass=x", "SBT_OPTS=-Dsonar.login=x", "CONDA_CHANNELS=https://conda.example.com/t/x/main",
		"CARGO_HTTP_PROXY=ada:word@proxy.example:8080", "SBT_OPTS=-Dproxy=ada:word@proxy.example",
	}
	if diff := cmp.Diff(harmless, environ.Plain(append(append([]string{}, secret...), harmless...))); diff != "" {
		t.Errorf("Plain (-want +got):\n%s", diff)
	}
	got := environ.Plain(secret, "OF_MINE", "DATABASE_URL", "GITHUB_TOKEN", "GITHUB_OUTPUT", "OTEL_EXPORTER_OTLP_ENDPOINT", "JAVA_OPTS")
	if diff := cmp.Diff([]string{"DATABASE_URL=postgres://db/shop", "OF_MINE=x", "JAVA_OPTS=-Ddb.password=word"}, got); diff != "" {
		t.Errorf("what was named (-want +got):\n%s", diff)
	}
	left := []string{
		"PIP_INDEX_URL", "GOPROXY", "MAVEN_ARGS", "JAVA_TOOL_OPTIONS", "GRADLE_OPTS", "MAVEN_OPTS", "PYTEST_ADDOPTS", "MAVEN_ARGS", "GRADLE_OPTS", "SBT_OPTS", "CONDA_CHANNELS", "CARGO_HTTP_PROXY", "SBT_OPTS",
	}
	if diff := cmp.Diff(left, environ.LeftOut(append(secret, harmless...), "JAVA_OPTS")); diff != "" {
		t.Errorf("LeftOut (-want +got):\n%s", diff)
	}
}
