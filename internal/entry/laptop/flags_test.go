package laptop_test

import (
	"reflect"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/entry/laptop"
)

// Each flag that may be left out is a limit, and changes one.
func TestEveryLimitingFlagCounts(t *testing.T) {
	flags := reflect.TypeFor[laptop.Flags]()
	for i := range flags.NumField() {
		field := flags.Field(i)
		if field.Type.Kind() != reflect.Pointer {
			continue
		}
		value := reflect.New(field.Type.Elem())
		value.Elem().Set(reflect.ValueOf(7).Convert(field.Type.Elem()))
		var typed laptop.Flags
		reflect.ValueOf(&typed).Elem().Field(i).Set(value)
		if typed.Limited(policy.Limits{}) == (policy.Limits{}) {
			t.Errorf("%s limits nothing", field.Name)
		}
	}
}
