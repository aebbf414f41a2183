package report

import "strings"

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

// The limits for all exams on a page, and the bytes of markup of a task.
const (
	maxExams      = 8
	roomForExams  = 96 << 10
	markupOfATask = 900
)

// exams returns the exams without secrets, each with as many tasks as fit.
func (s Source) exams() []Exam {
	shown := s.Exams[:min(len(s.Exams), maxExams)]
	all := make([]Exam, 0, len(shown))
	for _, e := range shown {
		e.Agent, e.Sum = oneLine(s.hide(e.Agent), 80), oneLine(s.hide(e.Sum), 300)
		room, tasks := roomForExams/len(shown), e.Tasks
		e.Tasks = nil
		for i, task := range tasks {
			task = s.cleanTask(task)
			if room -= textSize(task.ID+task.Title+strings.Join(task.Cells, "")) + markupOfATask; room < 0 {
				e.More = len(tasks) - i
				break
			}
			e.Tasks = append(e.Tasks, task)
		}
		all = append(all, e)
	}
	return all
}

func (s Source) cleanTask(task ExamTask) ExamTask {
	task.ID, task.Title = oneLine(s.hide(task.ID), 60), oneLine(s.hide(task.Title), 100)
	cells := make([]string, 0, len(task.Cells))
	for _, cell := range task.Cells {
		cells = append(cells, oneLine(s.hide(cell), 100))
	}
	task.Cells = cells
	return task
}

func (s Source) examPage() page {
	made := page{Title: "exam on real history", Outcome: good, Headline: spans("Exam on real history"), Exams: s.exams()}
	for _, e := range made.Exams {
		if e.False {
			made.Outcome = poor
		}
	}
	return made
}
