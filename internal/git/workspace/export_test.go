package workspace

// Remedy is exported because root cannot produce one of its errors.
var Remedy = Run.remedy

// Sweep is exported because each NewTemporary also leaves a folder.
var Sweep = sweep

// Unlock gives back the lock of a folder, and leaves the folder.
func (t Temporary) Unlock() error { return t.lock.Close() }
