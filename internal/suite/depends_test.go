package suite_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/suite"
)

// A build file's change counts as dependencies where it only adds entries of a known
// form, and none of them chooses the tests.
func TestDepends(t *testing.T) {
	const dependency = "+  <dependency>\n+    <groupId>a.b</groupId>\n+    <artifactId>c</artifactId>\n+    <version>1.2</version>\n+  </dependency>"
	for _, c := range []struct {
		name, lines string
		want        bool
	}{
		{"pom.xml", dependency, true},
		{"web/pom.xml", dependency + "\n   <x/>\n" + dependency, true},
		{"pom.xml", "+<module>web</module>", true},
		{"pom.xml", "-<module>web</module>", false},
		{"pom.xml", "-<module>web</module>\n+<module>app</module>", false},
		{"pom.xml", "+<version>2.12</version>", false},
		{"pom.xml", dependency + "\n+<skipTests>true</skipTests>", false},
		{"pom.xml", strings.Replace(dependency, "a.b", "org.testng", 1), false},
		{"pom.xml", "+<!--\n" + dependency, false},
		{"pom.xml", "+<testFailureIgnore>true</testFailureIgnore>", false},
		{"app/build.gradle", "+    implementation 'a.b:c:1.2'", true},
		{"build.gradle.kts", "+    implementation(libs.a.b)\n+    api(project(\":web\"))", true},
		{"build.gradle", "+    implementation \"a:${System.exit(0)}\"", false},
		{"build.gradle", "+    test.ignoreFailures = true", false},
		{"setup.py", "+        'requests[socks]>=2.0,<3',\n+        \"attrs\",", true},
		{"setup.py", "+        'x = plug',", false},
		{"setup.py", "+    entry_points={'pytest11': ['x = plug']},", false},
		{"settings.gradle", "+include ':web'", true},
		{"build.gradle", "+    include 'org/good/'", false},
		{"pnpm-workspace.yaml", "+  - packages/new", true},
		{"pnpm-workspace.yaml", "+scriptShell: ./ok.sh", false},
		{"Shop.csproj", "+    <PackageReference Include=\"A.B\" Version=\"1.2\" />", true},
		{"Shop.csproj", "+    <Compile Remove=\"Nine.cs\" />", false},
		{"mix.exs", "-      {:plug, \"~> 1.0\"}\n+      {:plug, \"~> 1.0\"},\n+      {:jason, \"~> 1.4\", only: :test}", true},
		{"mix.exs", "+      test_paths: []", false},
		{"composer.json", "-    \"a/b\": \"1\"\n+    \"a/b\": \"1\",\n+    \"c/d\": \"^2\"", true},
		{"composer.json", "+    \"test\": \"true\"", false},
		{"CMakeLists.txt", "+  src/price.cpp\n+  src/price.h", true},
		{"CMakeLists.txt", "-  test/nine.cpp\n+  test/ten.cpp", false},
		{"BUILD", "+        \"//shop:price\",", true},
		{"BUILD", "+        \"--skip\",", false},
		{"Package.swift", "+        .package(url: \"https://a/b\", from: \"1.0.0\"),", true},
		{"vite.config.ts", "+  a,", false},
		{"pom.xml", "", false},
	} {
		if got := suite.Depends(c.name, "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n <a>\n"+c.lines+"\n </a>\n"); got != c.want {
			t.Errorf("%s: %t\n%s", c.name, got, c.lines)
		}
	}
	for _, patch := range []string{"", "old mode 100644\nnew mode 120000\n", "Binary files differ\n"} {
		if suite.Depends("pom.xml", patch) {
			t.Errorf("%q adds dependencies", patch)
		}
	}
}
