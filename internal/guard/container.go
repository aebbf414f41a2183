package guard

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

var (
	hostMount = pattern.Of(`^(?:/|/etc|/root|/boot|/dev|/proc|/sys|/usr|/var|/home|/Users)(?:/)?:|^(?:/etc|/root|/boot|/proc|/sys)/[^:]*:|docker\.sock|containerd\.sock`)
	hostBind  = pattern.Of(`(?:source|src)=(?:/|/etc|/root|/var|/home)(?:,|$)|docker\.sock`)
	bigCaps   = pattern.Of(`(?i)^(?:CAP_)?(?:ALL|SYS_ADMIN|SYS_PTRACE|SYS_MODULE|DAC_READ_SEARCH|SYS_RAWIO|NET_ADMIN)$`)
)

// container judges ways out of a container, and the loss of all of them.
func (j *judge) container(c *call) {
	switch c.name {
	case "docker", "podman", "nerdctl":
		j.docker(c)
	case "nsenter", "chroot", "unshare":
		if !c.has("V", "--help", "--version") && (c.name != "unshare" || c.has("", "--mount-proc")) {
			j.report(ContainerEscape, c.String())
		}
	case "mount":
		if c.has("B", "--bind", "--rbind") || slices.Contains(c.values("-o"), "bind") || slices.ContainsFunc(c.operands(), onDevice) {
			j.report(ContainerEscape, c.String())
		}
	}
}

func (j *judge) docker(c *call) {
	sub := c.first()
	if strings.Contains(strings.Join(c.args, " "), everything) {
		j.report(ContainerEscape, c.name+" "+sub+" on everything there is")
		return
	}
	switch sub {
	case "run", "create":
		if c.escapes() {
			j.report(ContainerEscape, c.String())
		}
	case "system", "volume", "container", "image":
		if len(c.args) > 1 && c.args[1] == "prune" && (sub != "image" || c.has("a", "--all")) {
			j.reportInstead(ContainerEscape, c.String()+" removes what other projects use", "remove the containers and volumes of this project by name")
		}
		j.dockerAll(c, len(c.args) > 1 && slices.Contains([]string{"rm", "stop", "kill"}, c.args[1]))
	case "rm", "rmi", "stop", "kill":
		j.dockerAll(c, true)
	}
	if slices.ContainsFunc(c.values("-H", "--host"), func(h string) bool { return strings.Contains(h, "docker.sock") }) {
		j.report(ContainerEscape, c.String())
	}
}

// dockerAll judges the loss of all there are of a kind, by a list of them.
func (j *judge) dockerAll(c *call, loses bool) {
	if loses && c.everyone() {
		j.reportInstead(ContainerEscape, c.String()+": every one there is", "name the containers that you mean")
	}
}

// everyone: its words hold the ids of all there are.
func (c *call) everyone() bool {
	return c.subs.ids && strings.Contains(strings.Join(c.args, " "), dark)
}

// escapes looks at the options before the image.
func (c *call) escapes() bool {
	if c.has("", "--privileged") && !slices.Contains(c.args, "--privileged=false") {
		return true
	}
	if slices.ContainsFunc(c.values("-v", "--volume"), hostMount.MatchString) ||
		slices.ContainsFunc(c.values("--mount"), hostBind.MatchString) {
		return true
	}
	return slices.ContainsFunc(c.values("--cap-add"), bigCaps.MatchString) ||
		slices.Contains(c.values("--pid", "--userns", "--ipc"), "host") && !slices.Contains(c.values("--ipc"), "host")
}
