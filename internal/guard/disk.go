package guard

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// disk judges what goes below files. On an image file these are fine.
func (j *judge) disk(c *call) {
	device := slices.ContainsFunc(c.operands(), onDevice)
	bad := false
	switch c.name {
	case "mke2fs", "mkswap", "newfs", "shred":
		bad = device
	case "badblocks":
		bad = device && c.has("w", "")
	case "fdisk", "parted", "gdisk", "sgdisk", "cfdisk", "sfdisk", "wipefs":
		bad = device && !c.has("lpdJ", "--list", "--dump", "--print", "--json", "--no-act") && !slices.Contains(c.args, "print")
	case "blkdiscard", "grub-install", "wipe":
		bad = true
	case "swapoff", "umount":
		if c.has("a", "--all") {
			j.report(ProcessManipulation, c.String())
		}
	default:
		words, ok := diskWords[c.name]
		bad = ok && words.MatchString(strings.Join(c.args, " ")) || device && strings.HasPrefix(c.name, "mkfs")
	}
	if bad {
		j.report(DiskDestruction, c.String())
	}
}

var diskWords = map[string]*pattern.Pattern{
	"hdparm":     pattern.Of(`--security-erase|--trim-sector`),
	"cryptsetup": pattern.Of(`luksFormat|erase|luksErase`),
	"bootctl":    pattern.Of(`\b(install|remove)\b`),
	"efibootmgr": pattern.Of(`-[bBcoO]`),
	"diskutil":   pattern.Of(`(?i)\b(erase|partition|zero|secureErase|apfs delete)`),
	"zpool":      pattern.Of(`^(destroy|labelclear|create)\b`),
	"zfs":        pattern.Of(`^destroy\b`),
	"lvremove":   pattern.Of(``),
	"vgremove":   pattern.Of(``),
	"pvremove":   pattern.Of(``),
	"mdadm":      pattern.Of(`--zero-superblock|--stop`),
	"nvme":       pattern.Of(`^(format|sanitize)`),
}

func onDevice(p string) bool { return devices.MatchString(p) }

// exhaustion judges what fills the disk, the memory or the process table.
// Bombs and endless loops are found on the way through the tree.
func (j *judge) exhaustion(c *call) {
	filling := c.toFile && c.outFile != "/dev/null"
	switch c.name {
	case "yes":
		if filling {
			j.report(ResourceExhaustion, "yes > "+c.outFile)
		}
	case "cat", "tail", "sort", "tac":
		if (filling || c.name != "cat") && slices.ContainsFunc(append(slices.Clone(c.args), c.inFile), bottomless) {
			j.report(ResourceExhaustion, c.String()+" never ends")
		}
	case "fallocate":
		j.sizes(c, "-l", "--length")
	case "head":
		j.sizes(c, "-c", "--bytes")
	case "dd":
		if n, known := c.copies(); known && n >= enormous {
			j.report(ResourceExhaustion, c.String())
		}
	case "stress", "stress-ng":
		if !c.has("t", "--timeout") {
			j.report(ResourceExhaustion, c.String())
		}
	}
}

func bottomless(file string) bool {
	return file == "/dev/zero" || file == "/dev/urandom" || file == "/dev/random"
}

func (j *judge) sizes(c *call, options ...string) {
	if slices.ContainsFunc(c.values(options...), huge) {
		j.report(ResourceExhaustion, c.String())
	}
}

// enormous is 100 GB.
const enormous = 1e11

var sized = pattern.Of(`^(\d+)([KMGTP]?)`)

func huge(size string) bool {
	n, known := bytesIn(size)
	return known && n >= enormous
}

func bytesIn(size string) (n float64, known bool) {
	m := sized.FindStringSubmatch(strings.ToUpper(size))
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(m[1], 64)
	unit := map[string]float64{"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}[m[2]]
	return n * unit, err == nil
}

// copies is how much dd writes, if it says so.
func (c *call) copies() (n float64, known bool) {
	block, count := 512.0, 0.0
	for _, a := range c.args {
		if size, is := strings.CutPrefix(a, "bs="); is {
			if block, known = bytesIn(size); !known {
				return 0, false
			}
		}
		if times, is := strings.CutPrefix(a, "count="); is {
			count, _ = bytesIn(times)
		}
	}
	return block * count, count > 0
}
