package intake

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestOtherFoldersStayUntouched(t *testing.T) {
	base := t.TempDir()
	var buffer bytes.Buffer
	w := tar.NewWriter(&buffer)
	w.WriteHeader(&tar.Header{Name: "../acme-labs/contract.pdf", Typeflag: tar.TypeReg, Size: 4, Mode: 0o600})
	w.Write([]byte("evil"))
	w.Close()
	_, err := New(base, 1000).Unpack("acme", &buffer)
	if _, statErr := os.Stat(filepath.Join(base, "acme-labs", "contract.pdf")); statErr == nil {
		t.Fatal("a file of another customer was written")
	}
	if !errors.Is(err, ErrOutside) {
		t.Fatalf("got %v", err)
	}
}
