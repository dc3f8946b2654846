#pragma once

#include <istream>
#include <string>

#include "work_queue.hpp"

/// Queues the lines of a file, and returns their number.
std::size_t import_lines(std::istream& in, WorkQueue<std::string>& queue);
