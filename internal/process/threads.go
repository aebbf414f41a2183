package process

import (
	"runtime"
	"sync"
)

// ReserveThreads makes threads, which the runtime keeps: one for each processor, and for calls that wait. Where programs
// inside take all processes that there may be, the runtime would end this program for want of one more.
func ReserveThreads() {
	const waiting = 32
	var made, over sync.WaitGroup
	enough := make(chan struct{})
	for range runtime.GOMAXPROCS(0) + waiting {
		made.Add(1)
		over.Go(func() {
			runtime.LockOSThread() // so that each has one of its own
			defer runtime.UnlockOSThread()
			made.Done()
			<-enough
		})
	}
	made.Wait()
	close(enough)
	over.Wait()
}
