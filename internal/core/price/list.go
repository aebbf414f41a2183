package price

// Date is the day on which the list was read.
const Date = "2026-11-20"

// listed are standard rates. tools/prices writes this file at a release. This one it has not written: its source could
// not be reached, so the rates are still those that were read by hand, from the providers' pages and from places that
// quote them alike. The most expensive model of each provider has to be listed, also when it is retired: Most goes by
// it. Not listed: higher rates for long inputs, regions, priority and fees for searches.
var listed = map[string]Rate{
	"o1-pro":               {Input: 150, Output: 600, CacheRead: 150, CacheWrite: 150},
	"o3-pro":               {Input: 20, Output: 80, CacheRead: 20, CacheWrite: 20},
	"o3":                   {Input: 2, Output: 8, CacheRead: 0.50, CacheWrite: 2},
	"o4-mini":              {Input: 1.10, Output: 4.40, CacheRead: 0.275, CacheWrite: 1.10},
	"codex-mini-latest":    {Input: 1.50, Output: 6, CacheRead: 0.375, CacheWrite: 1.50},
	"computer-use-preview": {Input: 3, Output: 12, CacheRead: 3, CacheWrite: 3},

	"gpt-5":         {Input: 1.25, Output: 10, CacheRead: 0.125, CacheWrite: 1.25},
	"gpt-5-mini":    {Input: 0.25, Output: 2, CacheRead: 0.025, CacheWrite: 0.25},
	"gpt-5.1":       {Input: 1.25, Output: 10, CacheRead: 0.125, CacheWrite: 1.25},
	"gpt-5.2":       {Input: 1.75, Output: 14, CacheRead: 0.175, CacheWrite: 1.75},
	"gpt-5.4":       {Input: 2.50, Output: 15, CacheRead: 0.25, CacheWrite: 2.50},
	"gpt-5.5":       {Input: 5, Output: 30, CacheRead: 0.50, CacheWrite: 5},
	"gpt-5-codex":   {Input: 1.25, Output: 10, CacheRead: 0.125, CacheWrite: 1.25},
	"gpt-5.3-codex": {Input: 1.75, Output: 14, CacheRead: 0.175, CacheWrite: 1.75},
	"gpt-5.6-sol":   {Input: 5, Output: 30, CacheRead: 0.50, CacheWrite: 6.25},
	"gpt-6-astra":   {Input: 10, Output: 50, CacheRead: 1, CacheWrite: 12.50},
	"gpt-6-luna":    {Input: 0.10, Output: 0.50, CacheRead: 0.01, CacheWrite: 0.125},
	"gpt-6-sol":     {Input: 2, Output: 10, CacheRead: 0.20, CacheWrite: 2.50},
	"gpt-6.1-sol":   {Input: 2, Output: 10, CacheRead: 0.10, CacheWrite: 2.50},
	"gpt-6.2-sol":   {Input: 2, Output: 10, CacheRead: 0.10, CacheWrite: 2.50},

	"claude-mythos-preview": {Input: 25, Output: 125, CacheRead: 2.50, CacheWrite: 31.25},
	"claude-mythos-5-2":     {Input: 8, Output: 40, CacheRead: 0.20, CacheWrite: 10},
	"claude-mythos-5-1":     {Input: 10, Output: 50, CacheRead: 0.25, CacheWrite: 12.50},
	"claude-mythos-5":       {Input: 10, Output: 50, CacheRead: 1, CacheWrite: 12.50},
	"claude-fable-5-2":      {Input: 8, Output: 40, CacheRead: 0.20, CacheWrite: 10},
	"claude-fable-5-1":      {Input: 10, Output: 50, CacheRead: 0.25, CacheWrite: 12.50},
	"claude-fable-5":        {Input: 10, Output: 50, CacheRead: 1, CacheWrite: 12.50},

	"claude-opus-5-5":   {Input: 4, Output: 20, CacheRead: 0.20, CacheWrite: 5},
	"claude-opus-5":     {Input: 5, Output: 25, CacheRead: 0.50, CacheWrite: 6.25},
	"claude-opus-4-8":   {Input: 5, Output: 25, CacheRead: 0.50, CacheWrite: 6.25},
	"claude-opus-4-7":   {Input: 5, Output: 25, CacheRead: 0.50, CacheWrite: 6.25},
	"claude-opus-4-6":   {Input: 5, Output: 25, CacheRead: 0.50, CacheWrite: 6.25},
	"claude-opus-4-5":   {Input: 5, Output: 25, CacheRead: 0.50, CacheWrite: 6.25},
	"claude-opus-4-1":   {Input: 15, Output: 75, CacheRead: 1.50, CacheWrite: 18.75},
	"claude-opus-4":     {Input: 15, Output: 75, CacheRead: 1.50, CacheWrite: 18.75},
	"claude-sonnet-5-5": {Input: 2, Output: 10, CacheRead: 0.10, CacheWrite: 2.50},
	"claude-sonnet-5":   {Input: 2, Output: 10, CacheRead: 0.20, CacheWrite: 2.50},
	"claude-sonnet-4-6": {Input: 3, Output: 15, CacheRead: 0.30, CacheWrite: 3.75},
	"claude-sonnet-4-5": {Input: 3, Output: 15, CacheRead: 0.30, CacheWrite: 3.75},
	"claude-haiku-5-5":  {Input: 0.50, Output: 2.50, CacheRead: 0.05, CacheWrite: 0.625},
	"claude-haiku-4-5":  {Input: 1, Output: 5, CacheRead: 0.10, CacheWrite: 1.25},

	"gemini-3-pro-image-preview":    {Input: 2, Output: 120, CacheRead: 2, CacheWrite: 2},
	"gemini-2.5-flash-image":        {Input: 0.30, Output: 30, CacheRead: 0.30, CacheWrite: 0.30},
	"gemini-3.1-pro-preview":        {Input: 2, Output: 12, CacheRead: 0.20, CacheWrite: 2},
	"gemini-3.1-flash-lite":         {Input: 0.25, Output: 1.50, CacheRead: 0.025, CacheWrite: 0.25},
	"gemini-3.1-flash-lite-preview": {Input: 0.25, Output: 1.50, CacheRead: 0.025, CacheWrite: 0.25},
	"gemini-3-flash-preview":        {Input: 0.50, Output: 3, CacheRead: 0.05, CacheWrite: 0.50},
	"gemini-2.5-pro":                {Input: 1.25, Output: 10, CacheRead: 0.125, CacheWrite: 1.25},
	"gemini-2.5-flash":              {Input: 0.30, Output: 2.50, CacheRead: 0.03, CacheWrite: 0.30},
	"gemini-2.5-flash-lite":         {Input: 0.10, Output: 0.40, CacheRead: 0.01, CacheWrite: 0.10},
}
