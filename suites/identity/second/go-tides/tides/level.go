package tides

// Level is the height of the water at a time.
type Level struct {
	Minute int
	Metres float64
}

// At returns the level at a minute, between the two that are known.
func At(known []Level, minute int) (float64, bool) {
	for i := 1; i < len(known); i++ {
		from, to := known[i-1], known[i]
		if minute >= from.Minute && minute <= to.Minute && to.Minute > from.Minute {
			part := float64(minute-from.Minute) / float64(to.Minute-from.Minute)
			return from.Metres + part*(to.Metres-from.Metres), true
		}
	}
	return 0, false
}
