package action

import (
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/trigger"
	"github.com/ralph-loop/ralph/internal/view"
	"github.com/ralph-loop/ralph/templates"
)

// help answers /ralph help, and what was not understood or cannot be asked for.
func (v *visit) help(ctx context.Context) error {
	text, err := templates.Files.ReadFile("comment/help.md")
	if err != nil {
		return fmt.Errorf("read the help: %w", err)
	}
	body := string(text)
	if why := misunderstood(v.command); why != "" {
		body = why + " Nothing was started.\n\n" + body
	}
	return v.answer(ctx, body)
}

// misunderstood is why help is the answer where nobody asked for it.
func misunderstood(c trigger.Command) string {
	said := view.Code(c.Said, 80)
	switch {
	case c.Said == "" && c.Why == "":
		return ""
	case c.Said == "":
		return fmt.Sprintf("Sorry, %s.", c.Why)
	case c.Why != "":
		return fmt.Sprintf("%s cannot be: %s.", said, c.Why)
	case c.Nearest != "":
		return fmt.Sprintf("Nobody here knows %s. Was `%s` meant?", said, c.Nearest)
	}
	return fmt.Sprintf("Nobody here knows %s. Words for the agent come after `--`.", said)
}
