#pragma once

#include <chrono>
#include <string>

namespace bench::report {

/// One line on standard error that overwrites itself on a terminal; elsewhere a line per run.
class Progress {
  public:
    explicit Progress(std::size_t steps);
    ~Progress();
    void show(const std::string& step, std::chrono::milliseconds left);
    /// A line of its own that stays.
    void note(const std::string& text);

  private:
    void clear() const;
    std::size_t steps_;
    std::size_t step_ = 0;
    bool terminal_;
};

}  // namespace bench::report
