// SPDX-License-Identifier: BSD-3-Clause
// Deliberately bad code: the canary of .clang-tidy. Each line marked "expect" must cause that complaint. The file is
// never built.
#include <memory>
#include <string>
#include <vector>

namespace karst {

class bad_class {  // expect readability-identifier-naming
 public:
  int BadMethod() const { return member; }  // expect readability-identifier-naming

 private:
  int member = 0;  // expect readability-identifier-naming
};

int nine(int a, int b, int c, int d, int e, int f, int g, int h, int i) {  // expect readability-function-size
  return a + b + c + d + e + f + g + h + i;
}

std::size_t copied(const std::vector<std::string>& words) {
  std::size_t n = 0;
  for (const std::string word : words) n += word.size();  // expect performance-for-range-copy
  return n;
}

bool moved_from(std::string word) {
  const std::string taken = std::move(word);
  return word.empty() || taken.empty();  // expect bugprone-use-after-move
}

typedef std::vector<int> Numbers;  // expect modernize-use-using

}  // namespace karst
