package assets

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
)

// lazyFile reads its file on the first Read, since answers to HEAD need no content.
type lazyFile struct {
	files  fs.FS
	name   string
	size   int64
	offset int64
	data   *bytes.Reader
}

func (f *lazyFile) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += f.offset
	case io.SeekEnd:
		offset += f.size
	}
	if offset < 0 {
		return 0, errors.New("assets: negative position")
	}
	f.offset = offset
	return offset, nil
}

func (f *lazyFile) Read(p []byte) (int, error) {
	if f.data == nil {
		content, err := fs.ReadFile(f.files, f.name)
		if err != nil {
			return 0, err
		}
		f.data = bytes.NewReader(content)
	}
	if f.offset >= f.data.Size() {
		return 0, io.EOF
	}
	n, err := f.data.ReadAt(p, f.offset)
	f.offset += int64(n)
	if err == io.EOF && n > 0 {
		err = nil
	}
	return n, err
}
