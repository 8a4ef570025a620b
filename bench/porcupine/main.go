// Judges a history with Porcupine (github.com/anishathalye/porcupine), so that it can be compared on the same file:
// `porcupine FILE MODEL SECONDS` prints one JSON object a line. FILE is a lockpick history, for the models owned-mutex and
// register. For `each` it holds one history a line with its model, as `bench/public.ts` writes it.
//
// An operation of unknown outcome returns after everything else. There it is legal in any state, so that it may also
// never have happened; that makes the deterministic models here exact.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/anishathalye/porcupine"
)

// What an operation does to the value, or to the owner, of its lock, key or register.
type action int

const (
	acquire action = iota
	release
	busy
	read
	write
	cas
	casFailed
	appendTo
	transaction
)

type input struct {
	does    action
	unknown bool
	// Which lock or key.
	name string
	// Of a lock.
	owner int
	// Of a store: what is written, or was read; nil: nobody knows.
	value    *string
	expected string
	steps    []access
}

type access struct {
	Write    bool    `json:"write"`
	Register string  `json:"register"`
	Value    *string `json:"value"`
}

type line struct {
	Type    string  `json:"type"`
	Id      int     `json:"id"`
	Time    int64   `json:"time"`
	Process string  `json:"process"`
	Op      string  `json:"op"`
	Lock    string  `json:"lock"`
	Key     string  `json:"key"`
	Value   *string `json:"value"`
	Error   string  `json:"error"`
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: porcupine FILE MODEL SECONDS")
		os.Exit(64)
	}
	seconds, err := strconv.Atoi(os.Args[3])
	if err != nil {
		fail(err)
	}
	// As much memory as `LOCKPICK_BENCH_GIB` says; then it gives up, as it would when the machine ran out.
	if gib, err := strconv.ParseInt(os.Getenv("LOCKPICK_BENCH_GIB"), 10, 64); err == nil {
		go watchMemory(gib << 30)
	}
	limit := time.Duration(seconds) * time.Second
	if os.Args[2] == "each" {
		judgeEach(os.Args[1], limit)
		return
	}
	began := spentMillis()
	operations := readHistory(os.Args[1])
	readMillis := spentMillis() - began
	model := ownedMutex
	if os.Args[2] == "register" {
		model = register("0")
	}
	began = spentMillis()
	go giveUpAfter(began+1000*float64(seconds), map[string]any{
		"verdict": "unknown", "operations": len(operations), "readMillis": readMillis, "checkMillis": 1000 * seconds,
	})
	verdict := porcupine.CheckOperationsTimeout(partitioned(model), operations, 0)
	print(map[string]any{
		"verdict": word(verdict), "operations": len(operations),
		"readMillis": readMillis, "checkMillis": spentMillis() - began, "megabytes": peakMegabytes(),
	})
}

func readHistory(path string) []porcupine.Operation {
	file, err := os.Open(path)
	if err != nil {
		fail(err)
	}
	defer file.Close()
	operations := []porcupine.Operation{}
	// By id of the operation: where it stands.
	pending := map[int]int{}
	// By process and lock: the last attempt to acquire it, which owns what follows.
	attempt := map[string]int{}
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, 1<<20), 1<<28)
	lines.Scan()
	for lines.Scan() {
		var event line
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			fail(err)
		}
		if event.Type == "invoke" {
			does := map[string]action{"acquire": acquire, "release": release, "read": read, "write": write}[event.Op]
			name := event.Lock + event.Key
			if does == acquire {
				attempt[event.Process+" "+name] = event.Id
			}
			pending[event.Id] = len(operations)
			operations = append(operations, porcupine.Operation{
				Call: event.Time, Return: math.MaxInt64,
				Input: &input{does: does, unknown: true, name: name, owner: attempt[event.Process+" "+name], value: event.Value},
			})
			continue
		}
		place, known := pending[event.Id]
		if !known {
			continue
		}
		delete(pending, event.Id)
		if event.Type == "info" {
			continue
		}
		operation := &operations[place]
		operation.Return = event.Time
		in := operation.Input.(*input)
		in.unknown = false
		if event.Type == "fail" {
			in.does = busy
		}
		if in.does == read {
			in.value = event.Value
		}
	}
	if err := lines.Err(); err != nil {
		fail(err)
	}
	// A read that nobody answered claims nothing.
	kept := operations[:0]
	for _, operation := range operations {
		if in := operation.Input.(*input); in.does != read || !in.unknown {
			kept = append(kept, operation)
		}
	}
	return kept
}

func partitioned(model porcupine.Model) porcupine.Model {
	model.Partition = func(history []porcupine.Operation) [][]porcupine.Operation {
		places := map[string]int{}
		partitions := [][]porcupine.Operation{}
		for _, operation := range history {
			name := operation.Input.(*input).name
			place, known := places[name]
			if !known {
				place = len(partitions)
				places[name] = place
				partitions = append(partitions, nil)
			}
			partitions[place] = append(partitions[place], operation)
		}
		return partitions
	}
	return model
}

const free = -1

var ownedMutex = porcupine.Model{
	Init: func() any { return free },
	Step: func(state, in, _ any) (bool, any) {
		operation := in.(*input)
		switch operation.does {
		case acquire:
			if state == free {
				return true, operation.owner
			}
		case release:
			if state == operation.owner {
				return true, free
			}
		default:
			return state != free, state
		}
		return operation.unknown, state
	},
}

func register(initial string) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return initial },
		Step: func(state, in, _ any) (bool, any) {
			operation := in.(*input)
			switch operation.does {
			case read:
				return operation.value == nil || state == *operation.value, state
			case write:
				return true, *operation.value
			case appendTo:
				return true, state.(string) + *operation.value
			case cas:
				if state == operation.expected {
					return true, *operation.value
				}
				return operation.unknown, state
			default:
				return state != operation.expected, state
			}
		},
	}
}

// The state is the registers as text, in the order of their names.
func multiRegister(initial string) porcupine.Model {
	valueOf := func(state, name string) string {
		at := strings.Index(state, "\x00"+name+"\x01")
		if at < 0 {
			return initial
		}
		rest := state[at+len(name)+2:]
		return rest[:strings.IndexByte(rest, 0x02)]
	}
	set := func(state, name, value string) string {
		head := "\x00" + name + "\x01"
		at := strings.Index(state, head)
		if at >= 0 {
			rest := state[at+len(head):]
			return state[:at] + head + value + rest[strings.IndexByte(rest, 0x02):]
		}
		at = 0
		for at < len(state) {
			end := at + strings.IndexByte(state[at:], 0x02) + 1
			if state[at+1:at+1+strings.IndexByte(state[at+1:end], 0x01)] > name {
				break
			}
			at = end
		}
		return state[:at] + head + value + "\x02" + state[at:]
	}
	return porcupine.Model{
		Init: func() any { return "" },
		Step: func(state, in, _ any) (bool, any) {
			operation := in.(*input)
			after := state.(string)
			for _, step := range operation.steps {
				if step.Write {
					after = set(after, step.Register, *step.Value)
				} else if step.Value != nil && valueOf(after, step.Register) != *step.Value {
					return operation.unknown, state
				}
			}
			return true, after
		},
	}
}

// One history of `bench/public.ts`.
type history struct {
	File    string      `json:"file"`
	Model   string      `json:"model"`
	Initial string      `json:"initial"`
	Entries []publicRow `json:"entries"`
}

type publicRow struct {
	Does     string   `json:"does"`
	Key      string   `json:"key"`
	Invoked  int64    `json:"invoked"`
	Returned *int64   `json:"returned"`
	Value    *string  `json:"value"`
	Expected *string  `json:"expected"`
	Steps    []access `json:"steps"`
}

func judgeEach(path string, limit time.Duration) {
	file, err := os.Open(path)
	if err != nil {
		fail(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, 1<<20), 1<<30)
	for lines.Scan() {
		var one history
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			fail(err)
		}
		operations := make([]porcupine.Operation, len(one.Entries))
		actions := map[string]action{
			"read": read, "write": write, "cas": cas, "casFailed": casFailed, "append": appendTo, "transaction": transaction,
		}
		for place, row := range one.Entries {
			in := &input{does: actions[row.Does], unknown: row.Returned == nil, name: row.Key, value: row.Value, steps: row.Steps}
			if row.Expected != nil {
				in.expected = *row.Expected
			}
			returned := int64(math.MaxInt64)
			if row.Returned != nil {
				returned = *row.Returned
			}
			operations[place] = porcupine.Operation{Input: in, Call: row.Invoked, Return: returned}
		}
		model := register(one.Initial)
		if one.Model == "multi-register" {
			model = multiRegister(one.Initial)
		}
		best := math.Inf(1)
		verdict := porcupine.Unknown
		// Short ones are repeated, and the best counts: the same is done for ours.
		for run, spent := 0, 0.0; run < 500 && (run == 0 || spent < 100); run++ {
			began := time.Now()
			verdict = porcupine.CheckOperationsTimeout(partitioned(model), operations, limit)
			millis := millisSince(began)
			spent += millis
			best = math.Min(best, millis)
		}
		print(map[string]any{"file": one.File, "verdict": word(verdict), "checkMillis": best})
	}
	if err := lines.Err(); err != nil {
		fail(err)
	}
}

func word(verdict porcupine.CheckResult) string {
	switch verdict {
	case porcupine.Ok:
		return "valid"
	case porcupine.Illegal:
		return "invalid"
	default:
		return "unknown"
	}
}

func millisSince(began time.Time) float64 {
	return float64(time.Since(began).Nanoseconds()) / 1e6
}

func usage() syscall.Rusage {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		fail(err)
	}
	return used
}

// Processor time so far, which other programs on the machine change little.
func spentMillis() float64 {
	used := usage()
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e6
}

func peakMegabytes() int64 {
	return usage().Maxrss / 1024
}

func giveUpAfter(millis float64, result map[string]any) {
	for range time.Tick(50 * time.Millisecond) {
		if spentMillis() > millis {
			result["megabytes"] = peakMegabytes()
			print(result)
			os.Exit(0)
		}
	}
}

func watchMemory(most int64) {
	debug.SetMemoryLimit(most)
	for range time.Tick(50 * time.Millisecond) {
		if megabytes := peakMegabytes(); megabytes<<20 > most {
			print(map[string]any{"verdict": "out of memory", "readMillis": 0, "checkMillis": spentMillis(), "megabytes": megabytes})
			os.Exit(0)
		}
	}
}

func print(result map[string]any) {
	text, err := json.Marshal(result)
	if err != nil {
		fail(err)
	}
	fmt.Println(string(text))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
