package main

import "github.com/ralph-loop/ralph/internal/workspace"

// unmark removes the marker of a run that was killed before it could.
func (l local) unmark() error { return workspace.FolderAbove(l.ProjectDir).Unmark() }
