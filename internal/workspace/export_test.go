package workspace

// Remedy is what to do about a journal for a reason that cannot be had as root.
var Remedy = Run.remedy
