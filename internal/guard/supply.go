package guard

import (
	"slices"
	"strings"
)

var publishing = map[string][]string{
	"npm": {"publish", "unpublish", "deprecate"}, "yarn": {"publish", "npm publish"}, "pnpm": {"publish"}, "bun": {"publish"},
	"lerna": {"publish"}, "cargo": {"publish", "yank"}, "twine": {"upload"}, "poetry": {"publish"}, "uv": {"publish"}, "flit": {"publish"},
	"hatch": {"publish"}, "pdm": {"publish"}, "gem": {"push", "yank"}, "docker": {"push", "image push", "buildx build --push"}, "podman": {"push"},
	"python": {"-m twine upload"}, "python3": {"-m twine upload"}, "goreleaser": {"release"}, "gradle": {"publish"}, "dotnet": {"nuget push"}, "nuget": {"push"}, "helm": {"push"}, "vsce": {"publish"}, "ovsx": {"publish"},
	"pod": {"trunk push"}, "mix": {"hex.publish"}, "dart": {"pub publish"}, "jsr": {"publish"}, "np": {""}, "changeset": {"publish"}, "semantic-release": {""},
}

var trusted = []string{"https://registry.npmjs.org", "https://registry.yarnpkg.com", "https://pypi.org", "https://npm.pkg.github.com"}

// supply judges what goes to package registries and what comes from odd ones.
func (j *judge) supply(c *call) {
	words := strings.Join(c.args, " ")
	if c.publishes(words) {
		j.reportInstead(SupplyChain, c.String()+" publishes", "`--dry-run`, and leave publishing to the user")
		return
	}
	switch c.name {
	case "curl", "wget":
		j.downloads(c)
	case "python", "python3":
		if strings.HasPrefix(words, "-m pip ") {
			j.pip(&call{ran: c.ran, name: "pip", args: c.args[2:]})
		}
	case "npm", "yarn", "pnpm":
		moved := strings.Contains(words, "set registry") && !slices.ContainsFunc(trusted, func(t string) bool { return strings.Contains(words, t) })
		if moved || slices.ContainsFunc(c.values("--registry"), odd) {
			j.report(SupplyChain, c.String())
		}
	case "pip", "pip3":
		j.pip(c)
	case "gem":
		if slices.ContainsFunc(c.values("--source", "-s"), odd) {
			j.report(SupplyChain, c.String())
		}
	}
}

func (c *call) publishes(words string) bool {
	if c.has("", "--dry-run", "--help", "--snapshot") || strings.Contains(words, "--skip=publish") {
		return false
	}
	if c.name == "mvn" {
		return slices.Contains(c.args, "deploy")
	}
	return slices.ContainsFunc(publishing[c.name], func(sub string) bool {
		return sub == "" || words == sub || strings.HasPrefix(words, sub+" ")
	})
}

func odd(u string) bool { return strings.HasPrefix(u, "http://") && !local(hostOf(u)) }

func (j *judge) pip(c *call) {
	words := strings.Join(c.args, " ")
	switch c.first() {
	case "install", "download":
		if slices.ContainsFunc(append(c.values("-i", "--index-url", "--extra-index-url", "-f", "--find-links"), c.operands()...), odd) {
			j.report(SupplyChain, c.String())
		}
	case "config":
		if strings.Contains(words, "set") && strings.Contains(words, "index-url") && !strings.Contains(words, "https://pypi.org") {
			j.report(SupplyChain, c.String())
		}
	}
}
