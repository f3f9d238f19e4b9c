#include "cli/archive.hpp"

#include "svc/encoding.hpp"

#include <boost/json.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <set>

namespace svc::cli {

namespace {

const std::string manifest_name = "manifest.json", sums_name = "SHA256SUMS";

/// Held as long as the descriptor is open; false when another has it.
bool lock(const http::Descriptor& file, int how) { return ::flock(file.get(), how) == 0; }

/// Removes what an earlier backup may have left; refuses when one is still writing it.
void remove_what_was_left(const std::filesystem::path& part) {
    const http::Descriptor left(::open(part.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (left.get() >= 0 && !lock(left, LOCK_EX | LOCK_NB))
        throw std::runtime_error(
            part.string() + ": another backup is writing it; wait for its end, or name another file"
        );
    std::filesystem::remove(part);
}

constexpr int ends[] = {SIGTERM, SIGINT, SIGHUP};
char removed_at_end[4096];  // written while no handler is set

extern "C" void remove_and_end(int signal) {
    ::unlink(removed_at_end);
    ::signal(signal, SIG_DFL);
    ::raise(signal);
}

void set_handlers(void (*from)(int), void (*to)(int)) {
    for (const int each : ends) {
        // What is ignored, as by nohup, stays so.
        struct sigaction now {};
        if (::sigaction(each, nullptr, &now) == 0 && now.sa_handler == from) ::signal(each, to);
    }
}

void remove_at_end(const std::filesystem::path& file) {
    if (file.native().size() >= sizeof removed_at_end) return;
    removed_at_end[file.native().copy(removed_at_end, sizeof removed_at_end)] = '\0';
    set_handlers(SIG_DFL, remove_and_end);
}

Manifest manifest_in(const std::string& text) {
    Reader reader;
    reader.trusted = true;
    Manifest manifest;
    reader.read(record_of<Manifest>(), boost::json::parse(text), &manifest);
    if (!reader.clean()) throw std::runtime_error(manifest_name + ": " + reader.issues());
    return manifest;
}

}  // namespace

ArchiveWriter::ArchiveWriter(std::filesystem::path file)
    : file_(std::move(file)), part_(file_.string() + ".part") {
    // One at a time looks and creates: what is not locked yet would look left.
    const http::Descriptor folder(
        ::open((file_.parent_path() / ".").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    );
    lock(folder, LOCK_EX);
    remove_what_was_left(part_);
    tar_.emplace(part_);
    remove_at_end(part_);
    lock_.set(::open(part_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    lock(lock_, LOCK_EX | LOCK_NB);
}

ArchiveWriter::~ArchiveWriter() {
    std::error_code gone;
    if (!finished_) std::filesystem::remove(part_, gone);
    set_handlers(remove_and_end, SIG_DFL);
}

void ArchiveWriter::begin(const std::string& name) {
    name_ = name;
    sum_.emplace();
    tar_->begin(name);
}

void ArchiveWriter::add(std::string_view bytes) {
    sum_->add(bytes);
    tar_->add(bytes);
}

std::string ArchiveWriter::end() {
    tar_->end();
    std::string sum = hex(sum_->finish());
    sums_ += sum + "  " + name_ + '\n';
    return sum;
}

void ArchiveWriter::add_file(const std::string& name, std::string_view bytes) {
    begin(name);
    add(bytes);
    end();
}

void ArchiveWriter::finish(const Manifest& manifest) {
    add_file(manifest_name, to_json(manifest));
    tar_->begin(sums_name);
    tar_->add(sums_);
    tar_->end();
    tar_->finish();
    const Archive check(part_);
    std::filesystem::rename(part_, file_);
    finished_ = true;
}

Archive::Archive(const std::filesystem::path& file) : tar_(file) {
    const auto refuse = [&](const std::string& why) {
        throw std::runtime_error(file.string() + ": " + why);
    };
    std::map<std::string, std::string> found;
    while (auto entry = tar_.next()) {
        Sha256Sum sum;
        tar_.read(*entry, [&](std::string_view bytes) { sum.add(bytes); });
        found[entry->name] = hex(sum.finish());
        entries_.emplace(entry->name, *entry);
    }
    if (!find(manifest_name) || !find(sums_name))
        refuse("is not an archive of `workboard backup`, or breaks off");
    found.erase(sums_name);
    std::string sums = text(sums_name);
    for (std::size_t at = 0, end = 0; (end = sums.find('\n', at)) != sums.npos; at = end + 1) {
        constexpr std::size_t digits = 64, name_at = digits + 2;
        if (end - at <= name_at) refuse(sums_name + " is damaged");
        const std::string name = sums.substr(at + name_at, end - at - name_at);
        const auto is = found.find(name);
        if (is == found.end()) refuse(name + " is missing");
        if (is->second != sums.substr(at, digits)) refuse(name + " is damaged");
        found.erase(is);
    }
    if (!found.empty()) refuse(found.begin()->first + " does not belong there");
    manifest_ = manifest_in(text(manifest_name));
    if (manifest_.format != Manifest{}.format)
        refuse("was made by version " + manifest_.version + ", whose format this one cannot read");
    for (const auto& table : manifest_.tables)
        if (!find("database/" + table.name)) refuse("the table " + table.name + " is missing");
}

const core::TarReader::Entry* Archive::find(const std::string& name) const {
    const auto found = entries_.find(name);
    return found == entries_.end() ? nullptr : &found->second;
}

std::string Archive::text(const std::string& name) const {
    const auto* entry = find(name);
    if (!entry) throw std::runtime_error(name + " is not in the archive");
    std::string out;
    tar_.read(*entry, [&](std::string_view bytes) { out += bytes; });
    return out;
}

db::CopySource Archive::source(const core::TarReader::Entry& entry) const {
    return [this, entry, done = std::uint64_t{0}, bytes = std::string()]() mutable {
        const auto most = std::min<std::uint64_t>(256 << 10, entry.size - done);
        bytes = tar_.read(entry.offset + done, static_cast<std::size_t>(most));
        done += bytes.size();
        return std::string_view(bytes);
    };
}

std::vector<std::string> Archive::names_in(const std::string& folder) const {
    std::vector<std::string> out;
    for (auto each = entries_.lower_bound(folder + "/");
         each != entries_.end() && each->first.starts_with(folder + "/");
         ++each)
        out.push_back(each->first.substr(folder.size() + 1));
    return out;
}

std::vector<std::string> Archive::folders() const {
    std::set<std::string> out;
    for (const auto& [name, entry] : entries_)
        if (const auto slash = name.find('/'); slash != name.npos)
            out.insert(name.substr(0, slash));
    return {out.begin(), out.end()};
}

}  // namespace svc::cli
