bad=0; cases=
for t in tests/*_test.sh; do
  b=$(basename $t _test.sh)
  if sh $t; then
    cases="$cases<testcase name=\"$b\"/>"
  else
    cases="$cases<testcase name=\"$b\"><failure/></testcase>"; bad=1
  fi
done
[ -z "$RALPH_REPORTS" ] || echo "<testsuite>$cases</testsuite>" >"$RALPH_REPORTS/tests.xml"
exit $bad
