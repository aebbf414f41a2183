package workspace

// Remedy is exported because root cannot produce one of its errors.
var Remedy = Run.remedy
