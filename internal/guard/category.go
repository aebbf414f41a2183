package guard

import "slices"

// Category is a family of dangerous commands; there are 18, as in the guide of
// the loop that this guard comes from. docs/GUARD.md describes them.
type Category string

// The categories.
const (
	FileDestruction     Category = "file-destruction"
	DiskDestruction     Category = "disk-destruction"
	ResourceExhaustion  Category = "resource-exhaustion"
	DataExfiltration    Category = "data-exfiltration"
	RemoteAccess        Category = "remote-access"
	CredentialExposure  Category = "credential-exposure" //nolint:gosec // the name of a category
	PrivilegeEscalation Category = "privilege-escalation"
	ContainerEscape     Category = "container-escape"
	SupplyChain         Category = "supply-chain"
	GitDestruction      Category = "git-destruction"
	SystemConfiguration Category = "system-configuration"
	ObfuscatedExecution Category = "obfuscated-execution"
	EnvironmentTamper   Category = "environment-tampering"
	ProcessManipulation Category = "process-manipulation"
	Persistence         Category = "persistence"
	DatabaseDestruction Category = "database-destruction"
	CloudDestruction    Category = "cloud-destruction"
	ProtectedPath       Category = "protected-path"
)

// About is what a category covers, and what to do in its stead.
type About struct {
	Category Category
	Covers   string
	Instead  string
}

var abouts = []About{
	{FileDestruction, "deleting, overwriting or moving away what lies outside the project, or the whole of it", "delete the named files inside the project that you mean"},
	{DiskDestruction, "writing to block devices, making filesystems, changing partitions or the boot loader", "work on an image file inside the project"},
	{ResourceExhaustion, "fork bombs, endless output into files, endless background processes, enormous files", "bound it: a count, a size, a timeout"},
	{DataExfiltration, "sending secrets, files from outside the project or the whole tree to another machine", "send only what the task needs, to localhost or the project's own service"},
	{RemoteAccess, "reverse shells, tunnels and listeners that let somebody in", "talk to localhost; leave tunnels to the user"},
	{CredentialExposure, "printing or copying keys, tokens, password files, .env files or the whole environment", "test that it is there without printing it, or read .env.example"},
	{PrivilegeEscalation, "becoming root, setuid and capabilities, world-writable trees", "do it without root, inside the project, or ask the user to run it"},
	{ContainerEscape, "privileged containers, mounts of the host, its namespaces; pruning everything", "mount only the project, name the containers that you mean"},
	{SupplyChain, "running code as it comes from the network, publishing packages, changing registries", "download it, read it, pin it; use the package manager; leave publishing to the user"},
	{GitDestruction, "rewriting shared history, throwing uncommitted work away wholesale, deleting main or .git", "commit or `git stash` first; undo single files; `git push --force-with-lease` on your own branch"},
	{SystemConfiguration, "services, firewall, hosts file, users, kernel settings, cron, system packages removed", "keep the change inside the project or a container, or ask the user"},
	{ObfuscatedExecution, "code that is decoded or assembled, then run", "write the command out plainly"},
	{EnvironmentTamper, "preloaded libraries, hijacked PATH, start-up variables, history turned off", "set the variable for one command, to a path in the project"},
	{ProcessManipulation, "shutdown, killing init or everything, kernel modules, attaching to processes, writes to /proc and /sys", "end the one process that you started, by its id"},
	{Persistence, "shell start-up files, authorized_keys, autostart, git hooks, hooks and settings of the agent", "keep it in the project's own scripts, or ask the user"},
	{DatabaseDestruction, "dropping or emptying databases and tables, unless they are named as tests", "use a database with `test` in its name, a WHERE, or a migration"},
	{CloudDestruction, "deleting infrastructure: terraform, kubectl, cloud consoles, repositories", "show the plan (`plan`, `--dry-run`, `get`) and leave it to the user"},
	{ProtectedPath, "writing to system folders, key folders, ralph's own files, or what the project protects", "write inside the project, to files that are not protected"},
}

// Categories lists all 18, in the order of the guide.
func Categories() []About { return slices.Clone(abouts) }

func (c Category) instead() string {
	for _, a := range abouts {
		if a.Category == c {
			return a.Instead
		}
	}
	return ""
}
