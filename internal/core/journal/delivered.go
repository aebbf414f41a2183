package journal

import "time"

// Delivered records that the work came from the box into the user's folder.
type Delivered struct {
	Iteration int      `json:"iteration"`        // the newest that it has
	Head      string   `json:"head,omitempty"`   // the newest commit that is in the user's repository
	Branch    string   `json:"branch,omitempty"` // which has it, where the user's own has moved
	Files     int      `json:"files,omitempty"`  // written or removed
	Left      []Left   `json:"left,omitempty"`
	Patch     string   `json:"patch,omitempty"`   // file with the box's versions of those
	Ignored   []string `json:"ignored,omitempty"` // large folders that changed in the box only
}

// Left is a path that stays in the folder as the user has it.
type Left struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// IsPartial reports work that is in the box or on another branch only.
func (e *Delivered) IsPartial() bool { return e != nil && (len(e.Left) > 0 || e.Branch != "") }

// LeftPaths returns the paths that stay as the user has them.
func (e *Delivered) LeftPaths() []string {
	names := []string{}
	if e == nil {
		return names
	}
	for _, left := range e.Left {
		names = append(names, left.Path)
	}
	return names
}

func (e Delivered) fold(r *Run, _ time.Time) { r.Box.Delivered = &e }
