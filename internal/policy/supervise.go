package policy

// Supervised is a command that is started again, whatever it ends with, until
// it has left a DONE file: a run is complete ByFile. An attempt is an iteration
// of it, so that Limits.Iterations is how often it is started, and
// Limits.Iteration how long one may take.
const (
	Supervised Preset = "supervise"
	ByFile     Done   = "file"
)

// Supervision is what a run of that kind goes by, besides its limits. The
// command itself is not part of it: command lines hold keys.
type Supervision struct {
	Project string   `json:"project,omitempty"`
	Task    string   `json:"task,omitempty"`
	Dir     string   `json:"dir,omitempty"`   // the task's folder
	Delay   Duration `json:"delay,omitempty"` // before each attempt but the first
	Poll    Duration `json:"poll,omitempty"`  // between two looks at what a finished task left running
	Wait    Duration `json:"wait,omitempty"`  // for that to end; 0: for ever
}
