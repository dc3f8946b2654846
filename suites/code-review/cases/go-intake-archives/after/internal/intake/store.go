// Package intake stores the documents that customers send.
package intake

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
)

// Errors that the caller shows to the customer.
var (
	ErrName    = errors.New("intake: not a valid name")
	ErrOutside = errors.New("intake: entry is not below the folder")
	ErrTooBig  = errors.New("intake: document is too big")
)

var customerName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{1,30}$`)
var documentName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// Intake keeps a folder for each customer below its base.
type Intake struct {
	base    string
	maxSize int64
}

// New returns an Intake; a single document may have up to maxSize bytes.
func New(base string, maxSize int64) *Intake {
	return &Intake{base: filepath.Clean(base), maxSize: maxSize}
}

// Save stores one document of a customer.
func (in *Intake) Save(customer, name string, body io.Reader) error {
	root, err := in.folder(customer)
	if err != nil {
		return err
	}
	if !documentName.MatchString(name) {
		return ErrName
	}
	return in.create(filepath.Join(root, name), body)
}

// folder returns the absolute or base-relative folder of a customer.
func (in *Intake) folder(customer string) (string, error) {
	if !customerName.MatchString(customer) {
		return "", ErrName
	}
	return filepath.Join(in.base, customer), nil
}

// create writes body to path and removes the file again if that does not succeed.
func (in *Intake) create(path string, body io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return fmt.Errorf("intake: %w", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("intake: %w", err)
	}
	written, err := io.Copy(file, io.LimitReader(body, in.maxSize+1))
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil && written > in.maxSize {
		err = ErrTooBig
	}
	if err != nil {
		os.Remove(path)
		return err
	}
	return nil
}
