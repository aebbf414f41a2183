package laptop

// KeptBaselines is keptBaselines.
var KeptBaselines = World.keptBaselines
