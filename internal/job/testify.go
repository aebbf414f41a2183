package job

import (
	"context"

	"github.com/ralph-loop/ralph/internal/evidence"
	"github.com/ralph-loop/ralph/internal/policy"
)

// Evidence is the name of the file that says what a run rests on, in the run's
// folder.
const Evidence = "evidence.json"

// testify writes down what the run rests on. A run is not worth less because
// that could not be done; it is said in the log.
func (s *site) testify(ctx context.Context) {
	run := s.Run()
	if run.Stop == nil || run.Policy.Done != policy.ByStories || s.ended() {
		return
	}
	tools := map[string]string{"ralph": s.Version}
	if version, err := s.Git.Version(context.WithoutCancel(ctx)); err == nil {
		tools["git"] = version
	}
	data, err := evidence.Of(run, tools).Marshal()
	if err == nil {
		_, err = s.attach(Evidence, string(data))
	}
	if err != nil {
		s.Log("could not write " + Evidence + ": " + err.Error())
	}
}
