#include "rill/keras/utils/plot_model.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "rill/base/check.h"
#include "rill/io/file.h"

extern char** environ;

namespace rill::keras::utils {

namespace {

std::string ending_of(const std::string& path) {
  std::string e = std::filesystem::path(path).extension().string();
  if (e.empty()) return "png";
  std::transform(e.begin(), e.end(), e.begin(), [](unsigned char c) { return std::tolower(c); });
  return e.substr(1);
}

// A folder beside the picture, so that a rename within one file system ends the work.
class WorkFolder {
 public:
  explicit WorkFolder(const std::string& target) {
    const std::string absolute = std::filesystem::absolute(target).string();
    io::create_folders(io::folder_of(absolute));
    path_ = absolute + ".tempXXXXXX";
    RILL_CHECK(::mkdtemp(path_.data()) != nullptr, permission_denied,
               "[plot_model] cannot write beside \"{}\": {}", target,
               std::generic_category().message(errno));
  }
  ~WorkFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Runs dot, found by PATH, with its messages in a file. Not by a shell: a path stays a path.
void run_dot(const std::string& type, const std::string& from, const std::string& to,
             const std::string& messages) {
  const std::string arguments[] = {"dot", "-T" + type, "-o", to, from};
  std::vector<char*> argv;
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, 2, messages.c_str(), O_WRONLY | O_CREAT, 0600);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, "dot", &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  RILL_CHECK(error == 0, failed_precondition,
             "[plot_model] cannot run Graphviz's program `dot` ({}). Install it (Debian: apt-get "
             "install graphviz), or write a file that ends with .dot, which needs no program",
             std::generic_category().message(error));
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  RILL_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0 && io::file_exists(to), unknown,
             "[plot_model] Graphviz's program `dot` failed to make {}: {}", type,
             io::file_exists(messages) ? io::file_contents(messages) : "it said nothing");
}

}  // namespace

void plot_model(const Model& model, const PlotModelOptions& given) {
  PlotModelOptions options = given;
  const std::string ending = ending_of(options.to_file);
  // Lines have no dots. And dot cuts off what is drawn beyond 72 of them in an .svg.
  if (ending == "svg" || ending == "pdf" || ending == "eps" || ending == "ps") options.dpi = 72;
  const std::string text = model_to_dot(model, options);
  if (ending == "dot" || ending == "gv") return io::write_file_atomically(options.to_file, text);
  const char* const known[] = {"png", "svg", "pdf", "jpg", "jpeg", "gif", "eps", "ps"};
  RILL_CHECK(std::find(std::begin(known), std::end(known), ending) != std::end(known),
             invalid_argument,
             "[plot_model] to_file is \"{}\"; expected an ending of .png, .svg, .pdf, .jpg, .jpeg, "
             ".gif, .eps, .ps or .dot",
             options.to_file);
  const WorkFolder work(options.to_file);
  const std::string source = work.file("model.dot"), picture = work.file("picture");
  io::write_file_atomically(source, text);
  run_dot(ending, source, picture, work.file("messages"));
  std::error_code error;
  std::filesystem::rename(picture, options.to_file, error);
  RILL_CHECK(!error, permission_denied, "[plot_model] cannot write \"{}\": {}", options.to_file,
             error.message());
}

}  // namespace rill::keras::utils
