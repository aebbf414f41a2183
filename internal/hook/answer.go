package hook

// answer is what an agent's program reads from a hook.
type answer struct {
	Decision string `json:"decision,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Message  string `json:"systemMessage,omitempty"` // for the person, not the agent
	Specific any    `json:"hookSpecificOutput,omitempty"`
}

type permission struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"permissionDecision"`
	Reason   string `json:"permissionDecisionReason"`
}

type advice struct {
	Event string `json:"hookEventName"`
	More  string `json:"additionalContext"`
}

// deny keeps a tool from being used.
func deny(why string) answer {
	return answer{Specific: permission{"PreToolUse", "deny", why}}
}

// advise tells the agent something.
func advise(what string) answer {
	return answer{Specific: advice{"PostToolUse", what}}
}

// block sends the agent back to work.
func block(why, message string) answer {
	return answer{Decision: "block", Reason: why, Message: message}
}

// note tells the person something and lets the agent go on.
func note(message string) answer { return answer{Message: message} }
