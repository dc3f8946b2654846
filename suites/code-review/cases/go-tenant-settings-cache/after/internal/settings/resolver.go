// Package settings answers which values a tenant has configured.
package settings

import (
	"context"
	"errors"
)

// ErrUnknown is returned for a setting that no layer defines.
var ErrUnknown = errors.New("settings: unknown setting")

// Resolver finds the values of a setting for a tenant.
type Resolver interface {
	Resolve(ctx context.Context, tenant, name string) ([]string, error)
}

// Layer is one table of values.
type Layer interface {
	Lookup(ctx context.Context, tenant, name string) ([]string, bool, error)
}

// Layered asks its layers in order; the first that has a value wins.
type Layered struct {
	Layers []Layer
}

// Resolve implements Resolver.
func (l Layered) Resolve(ctx context.Context, tenant, name string) ([]string, error) {
	for _, layer := range l.Layers {
		values, ok, err := layer.Lookup(ctx, tenant, name)
		if err != nil {
			return nil, err
		}
		if ok {
			return values, nil
		}
	}
	return nil, ErrUnknown
}
