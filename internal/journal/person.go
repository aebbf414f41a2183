package journal

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/clean"
)

// Person is a GitHub user.
type Person struct {
	Login string `json:"login,omitempty"`
	ID    int64  `json:"id,omitempty"`
}

// Trailers returns the lines under ralph's commits and pull requests: run, story, requester.
func (r Run) Trailers(story string) []string {
	lines := []string{"Ralph-Run: " + r.ID}
	if story != "" {
		lines = append(lines, "Ralph-Story: "+strings.TrimSpace(clean.CommitMessage(strings.Join(strings.Fields(story), " "))))
	}
	if r.By.ID > 0 && strings.Trim(r.By.Login, loginCharacters) == "" {
		lines = append(lines, fmt.Sprintf("Co-authored-by: %s <%d+%s@users.noreply.github.com>", r.By.Login, r.By.ID, r.By.Login))
	}
	return lines
}

// loginCharacters are those of people's logins. A bot has others, and is no author.
const loginCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
