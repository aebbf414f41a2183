package price

// listed are standard rates, as of 2026-11-20. Those of gpt-5-codex, gpt-6.2-sol and Claude were
// read on the makers' own pages (developers.openai.com/api/docs/models,
// platform.claude.com/docs/en/about-claude/pricing), the others with several who
// quote OpenAI's page alike; where they differ, the model is left out. A cache
// that costs nothing to write costs what its input does. Not in here: OpenAI's
// dearer rates for requests beyond 272,000 tokens and Google's beyond 200,000,
// Google's for keeping a cache, and fees for web searches.
var listed = map[string]Rate{
	"gpt-5-codex":   {Input: 1.25, Output: 10, CacheRead: 0.125, CacheWrite: 1.25},
	"gpt-5.3-codex": {Input: 1.75, Output: 14, CacheRead: 0.175, CacheWrite: 1.75},
	"gpt-6-sol":     {Input: 2, Output: 10, CacheRead: 0.20, CacheWrite: 2.50},
	"gpt-6.1-sol":   {Input: 2, Output: 10, CacheRead: 0.10, CacheWrite: 2.50},
	"gpt-6.2-sol":   {Input: 2, Output: 10, CacheRead: 0.10, CacheWrite: 2.50},

	"claude-opus-5":     {Input: 5, Output: 25, CacheRead: 0.50, CacheWrite: 6.25},
	"claude-opus-4-8":   {Input: 5, Output: 25, CacheRead: 0.50, CacheWrite: 6.25},
	"claude-opus-4-7":   {Input: 5, Output: 25, CacheRead: 0.50, CacheWrite: 6.25},
	"claude-opus-4-6":   {Input: 5, Output: 25, CacheRead: 0.50, CacheWrite: 6.25},
	"claude-opus-4-5":   {Input: 5, Output: 25, CacheRead: 0.50, CacheWrite: 6.25},
	"claude-sonnet-4-6": {Input: 3, Output: 15, CacheRead: 0.30, CacheWrite: 3.75},
	"claude-sonnet-4-5": {Input: 3, Output: 15, CacheRead: 0.30, CacheWrite: 3.75},
	"claude-haiku-4-5":  {Input: 1, Output: 5, CacheRead: 0.10, CacheWrite: 1.25},

	"gemini-3.1-pro-preview":        {Input: 2, Output: 12, CacheRead: 0.20, CacheWrite: 2},
	"gemini-3.1-flash-lite":         {Input: 0.25, Output: 1.50, CacheRead: 0.025, CacheWrite: 0.25},
	"gemini-3.1-flash-lite-preview": {Input: 0.25, Output: 1.50, CacheRead: 0.025, CacheWrite: 0.25},
	"gemini-3-flash-preview":        {Input: 0.50, Output: 3, CacheRead: 0.05, CacheWrite: 0.50},
	"gemini-2.5-pro":                {Input: 1.25, Output: 10, CacheRead: 0.125, CacheWrite: 1.25},
	"gemini-2.5-flash":              {Input: 0.30, Output: 2.50, CacheRead: 0.03, CacheWrite: 0.30},
	"gemini-2.5-flash-lite":         {Input: 0.10, Output: 0.40, CacheRead: 0.01, CacheWrite: 0.10},
}
