package action

import (
	"cmp"
	"context"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/fault"
)

// settle lays the settings of the base branch under the inputs. What an agent or
// a stranger may have written elsewhere is not looked at.
func (v *visit) settle(ctx context.Context) error {
	if !v.command.Verb.Agent() {
		return nil
	}
	base, _, err := v.place()
	if err != nil {
		return nil //nolint:nilerr // it is answered when the run is to begin
	}
	name := cmp.Or(v.inputs.Config, config.BaseSettings)
	text, found, err := v.client.File(ctx, base, name)
	switch {
	case err != nil:
		return err
	case !found && v.inputs.Config == "":
		return nil
	case !found:
		return fault.Usage("there is no "+name+" on "+base, "mend the input config, or push that file", nil)
	}
	settings, err := config.ReadSettings(config.File{Name: name + " on " + base, Data: text})
	if err != nil {
		return err
	}
	settings.Under(&v.inputs)
	if settings.Review.Agent != "" && v.inputs.Policy.Review.Agent == "" {
		v.aside("nobody is asked for a second opinion: who may give one stands in the workflow, not in "+name,
			"set `review-agent: "+settings.Review.Agent+"` there")
	}
	return nil
}
