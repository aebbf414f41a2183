package main_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
)

// packagesHost is where a company's packages come from.
const packagesHost = "npm.example.com"

// packages serves one, as npm asks for it: greeting, which says hello.
func packages(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, ".tgz") {
		_, _ = w.Write(greeting())
		return
	}
	const version = `{"name":"greeting","version":"1.0.0","dist":{"tarball":"https://` + packagesHost + `/greeting/-/greeting-1.0.0.tgz"}}`
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"name":"greeting","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":%s}}`, version)
}

func greeting() []byte {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	files := tar.NewWriter(zip)
	for name, text := range map[string]string{
		"package/package.json": `{"name":"greeting","version":"1.0.0"}`, "package/index.js": "module.exports = 'hello from the package'\n",
	} {
		_ = files.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}) // into memory
		_, _ = files.Write([]byte(text))
	}
	_, _ = files.Close(), zip.Close()
	return packed.Bytes()
}
