package report

import "slices"

// Exam has the results of an agent on commits of the repository, as ralph eval reports them.
type Exam struct {
	Agent   string
	Sum     string // the result in a sentence
	False   bool   // wrong work was called proven
	Columns []string
	Tasks   []ExamTask
	More    int // tasks that are not shown
}

// ExamTask is one commit with its result, a cell for each column.
type ExamTask struct {
	ID, Title string
	Cells     []string
	Solved    bool
	False     bool
}

// Limits for all exams on a page.
const (
	maxExams = 8
	maxTasks = 100
)

// exams returns the exams without secrets.
func (s Source) exams() []Exam {
	shown := s.Exams[:min(len(s.Exams), maxExams)]
	all := make([]Exam, 0, len(shown))
	for _, e := range shown {
		e.Agent, e.Sum = s.line(e.Agent, 80), s.line(e.Sum, 300)
		tasks := e.Tasks[:min(len(e.Tasks), maxTasks/len(shown))]
		e.Tasks, e.More = nil, len(e.Tasks)-len(tasks)
		for _, task := range tasks {
			task.ID, task.Title, task.Cells = s.line(task.ID, 60), s.line(task.Title, 100), s.lines(task.Cells)
			e.Tasks = append(e.Tasks, task)
		}
		all = append(all, e)
	}
	return all
}

func (s Source) examPage() page {
	made := page{Title: "exam on real history", Outcome: good, Headline: "Exam on real history", Exams: s.exams()}
	if slices.ContainsFunc(made.Exams, func(e Exam) bool { return e.False }) {
		made.Outcome = poor
	}
	return made
}
