package queue

import (
	"math/rand"
	"strconv"
)

// Number gives a waiting boat a number; the board shows it.
func Number(from string) int {
	first, _ := strconv.Atoi(from)
	return first + rand.Intn(900)
}
