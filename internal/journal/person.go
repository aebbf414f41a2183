package journal

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/clean"
)

// Person is somebody as GitHub knows them.
type Person struct {
	Login string `json:"login,omitempty"`
	ID    int64  `json:"id,omitempty"`
}

// Trailers are the lines under a commit that the program makes itself, and under
// a pull request: which run it is of, which story, and who asked for it.
func (r Run) Trailers(story string) []string {
	lines := []string{"Ralph-Run: " + r.ID}
	if story != "" {
		lines = append(lines, "Ralph-Story: "+strings.TrimSpace(clean.Message(strings.Join(strings.Fields(story), " "))))
	}
	if r.By.ID > 0 && strings.Trim(r.By.Login, loginCharacters) == "" {
		lines = append(lines, fmt.Sprintf("Co-authored-by: %s <%d+%s@users.noreply.github.com>", r.By.Login, r.By.ID, r.By.Login))
	}
	return lines
}

// loginCharacters is what people's logins are made of; a bot, whose has more, is no
// author.
const loginCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
