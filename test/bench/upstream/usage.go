package main

import (
	"runtime"
	"syscall"
	"time"
)

// cpuTime is what this process has used so far, all its threads together.
func cpuTime() time.Duration {
	usage := selfUsage()
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func peakRssBytes() int64 {
	peak := int64(selfUsage().Maxrss)
	if runtime.GOOS == "darwin" {
		return peak
	}
	return peak * 1024
}

func selfUsage() (usage syscall.Rusage) {
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return usage
}
