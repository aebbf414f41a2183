package agent

import "github.com/ralph-loop/ralph/internal/stream"

// geminiUsage is the usage of a model, or of all of them: the sum stands beside
// its parts. Its cached tokens are among the input's; its thoughts, which are
// billed as output, are among the total alone.
type geminiUsage struct {
	Total  int64 `json:"total_tokens"`
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
	Cached int64 `json:"cached"`
}

func (u geminiUsage) plain() stream.Usage {
	return stream.Usage{
		Input:     max(u.Input-u.Cached, 0),
		Output:    max(u.Output, u.Total-u.Input),
		CacheRead: u.Cached,
	}
}

// cost is the sum over the models that answered, each at its own price; the CLI
// chooses among several. One without a price makes it unknown.
func (l geminiLine) cost(price pricing) stream.Cost {
	sum := stream.Cost{Known: true}
	answered := false
	for name, used := range l.Stats.Models {
		if used.plain() == (stream.Usage{}) {
			continue
		}
		answered = true
		sum = sum.Plus(price.of(name, used.plain()))
	}
	if !answered || !sum.Known {
		return stream.Cost{}
	}
	return sum
}
