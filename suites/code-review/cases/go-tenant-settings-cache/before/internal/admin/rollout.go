// Package admin has the pages of the operations team.
package admin

import (
	"context"
	"errors"
	"sort"

	"example.org/console/internal/settings"
)

// Rollout says who sees a feature.
type Rollout struct {
	settings settings.Resolver
	pilots   []string
}

// NewRollout reads from the given resolver; pilots see every feature.
func NewRollout(resolver settings.Resolver, pilots []string) *Rollout {
	return &Rollout{settings: resolver, pilots: pilots}
}

// Includes tells whether a user sees the feature.
func (r *Rollout) Includes(ctx context.Context, tenant, feature, user string) (bool, error) {
	for _, pilot := range r.pilots {
		if pilot == user {
			return true, nil
		}
	}
	users, err := r.settings.Resolve(ctx, tenant, "rollout."+feature)
	if errors.Is(err, settings.ErrUnknown) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	sorted := sort.SearchStrings(users, user)
	return sorted < len(users) && users[sorted] == user, nil
}
