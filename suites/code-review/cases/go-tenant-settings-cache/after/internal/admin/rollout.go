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
	settings *settings.Cached
	pilots   []string
}

// NewRollout reads from the given settings; pilots see every feature.
func NewRollout(resolver *settings.Cached, pilots []string) *Rollout {
	return &Rollout{settings: resolver, pilots: pilots}
}

// Audience returns the users who see the feature, in alphabetical order.
func (r *Rollout) Audience(ctx context.Context, tenant, feature string) ([]string, error) {
	users, err := r.settings.ResolveWith(ctx, tenant, "rollout."+feature, r.pilots)
	if errors.Is(err, settings.ErrUnknown) {
		users = append(users, r.pilots...)
		sort.Strings(users)
		return users, nil
	}
	return users, err
}

// Includes tells whether a user sees the feature.
func (r *Rollout) Includes(ctx context.Context, tenant, feature, user string) (bool, error) {
	for _, pilot := range r.pilots {
		if pilot == user {
			return true, nil
		}
	}
	audience, err := r.Audience(ctx, tenant, feature)
	if err != nil {
		return false, err
	}
	place := sort.SearchStrings(audience, user)
	return place < len(audience) && audience[place] == user, nil
}
