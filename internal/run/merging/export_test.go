package merging

// Marked is marked, for its test.
var Marked = marked
