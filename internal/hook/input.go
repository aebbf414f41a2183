package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// largest is more than any hook is told: whole files are written through it.
const largest = 32 << 20

// input is what an agent tells its hooks, as far as it is of use here.
type input struct {
	Session    string `json:"session_id"`
	Transcript string `json:"transcript_path"`
	Dir        string `json:"cwd"`
	Again      bool   `json:"stop_hook_active"` // a hook has kept it from ending already
	Last       string `json:"last_assistant_message"`
	Tool       string `json:"tool_name"`
	Given      given  `json:"tool_input"`
}

// given is what a tool is called with.
type given struct {
	Command  command `json:"command"`
	Input    string  `json:"input"` // a patch
	File     string  `json:"file_path"`
	Notebook string  `json:"notebook_path"`
}

// UnmarshalJSON reads an object; tools of which nothing is known here may be
// given anything else, or other things under the same names.
func (g *given) UnmarshalJSON(data []byte) error {
	if !bytes.HasPrefix(data, []byte("{")) {
		return nil
	}
	type plain given
	err := json.Unmarshal(data, (*plain)(g))
	if _, is := errors.AsType[*json.UnmarshalTypeError](err); is {
		return nil // what is missing is told by who needs it
	}
	return err
}

// command is a line for a shell, or the words of one.
type command struct {
	Line  string
	Words []string
}

// UnmarshalJSON takes both forms.
func (c *command) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte("[")) {
		return json.Unmarshal(data, &c.Words)
	}
	return json.Unmarshal(data, &c.Line)
}

func read(from io.Reader) (input, error) {
	var in input
	data, err := io.ReadAll(io.LimitReader(from, largest+1))
	switch {
	case err != nil:
		return in, err
	case len(data) > largest:
		return in, fmt.Errorf("it is larger than %d MiB", largest>>20)
	case len(bytes.TrimSpace(data)) == 0:
		return in, errors.New("it is empty")
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return input{}, fmt.Errorf("it is not what a hook is told: %w", err)
	}
	return in, nil
}
