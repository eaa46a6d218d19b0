// Usage: trim-icu lib_FoundationICU.a >icu.dat
// Writes the part of ICU's data (34 MB in the archive) that Foundation may ask for on behalf of dlm: 2.4 MB.
//
// Kept are the rules of time zones, calendars, numbers, plurals, normalization, IDNA and text boundaries, and English
// words. Left out are converters, collations, dictionaries, transliterations, number spelling, the names of languages
// and regions, and all words of other languages. For another language ICU then uses its root data, as for a language
// that it does not know.
//
// The format is that of ICU's common data (icu4c/source/tools/toolutil/package.cpp): a header, the number of items, and
// for each item the offsets of its name and of its data, sorted by name.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *why) {
    fprintf(stderr, "trim-icu: %s\n", why);
    exit(1);
}

static uint32_t word(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static int ends(const char *text, const char *with) {
    size_t length = strlen(text), tail = strlen(with);
    return length >= tail && strcmp(text + length - tail, with) == 0;
}

static int is_one_of(const char *text, const char *const *words) {
    for (; *words; words++)
        if (strcmp(text, *words) == 0) return 1;
    return 0;
}

// Returns whether a name is that of a bundle of words, such as de.res or sr_Latn.res: two or three small letters, and
// perhaps more after "_".
static int is_language(const char *file) {
    size_t letters = strspn(file, "abcdefghijklmnopqrstuvwxyz");
    return (letters == 2 || letters == 3) && (file[letters] == '_' || file[letters] == '.');
}

// The path is without the package name (icudt76l/).
static int is_kept(const char *path) {
    static const char *const english[] = {"root.res", "en.res",   "en_001.res",    "en_US.res", "en_US_POSIX.res",
                                          "pool.res", "res_index.res", NULL};
    static const char *const folders[] = {"zone", "curr", "unit", "brkitr", NULL};
    const char *slash = strchr(path, '/');
    if (!slash) {
        // unames.icu has the names of all characters.
        if (ends(path, ".icu")) return strcmp(path, "unames.icu") != 0;
        if (ends(path, ".nrm")) return 1;
        return ends(path, ".res") && (is_one_of(path, english) || !is_language(path));
    }
    const char *file = slash + 1;
    char folder[16] = "";
    if ((size_t)(slash - path) < sizeof folder) memcpy(folder, path, (size_t)(slash - path));
    if (!is_one_of(folder, folders)) return 0;
    if (ends(file, ".brk")) return strncmp(file, "line_", 5) != 0;
    return is_one_of(file, english);
}

// The header of the data has its size in two bytes, then the magic number 0xda27, and at byte 12 the format CmnD.
static const uint8_t *find(const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i + 16 < count; i++)
        if (bytes[i + 2] == 0xda && bytes[i + 3] == 0x27 && memcmp(bytes + i + 12, "CmnD", 4) == 0) return bytes + i;
    return NULL;
}

static uint8_t *contents(const char *path, size_t *count) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) fail("cannot read the archive");
    long size = ftell(file);
    uint8_t *bytes = size > 0 ? malloc((size_t)size) : NULL;
    rewind(file);
    if (!bytes || fread(bytes, 1, (size_t)size, file) != (size_t)size) fail("cannot read the archive");
    fclose(file);
    *count = (size_t)size;
    return bytes;
}

static uint32_t padded(uint32_t length) { return (length + 15) & ~15u; }

int main(int count, char **words) {
    if (count != 2) fail("give lib_FoundationICU.a");
    size_t size;
    const uint8_t *bytes = contents(words[1], &size);
    const uint8_t *data = find(bytes, size);
    if (!data) fail("there is no data of ICU in the archive");
    uint16_t header;
    memcpy(&header, data, sizeof header);
    const uint8_t *table = data + header;
    uint32_t items = word(table), number = 0, names = 0;
    if (items > 100000) fail("the data has another form than this program knows");
    uint32_t *kept = calloc(items, sizeof *kept);
    for (uint32_t i = 0; i < items; i++) {
        const char *name = (const char *)table + word(table + 4 + 8 * i);
        const char *slash = strchr(name, '/');
        if (!slash || !is_kept(slash + 1)) continue;
        // An item ends where the next one begins. So the size of the last item is not known, but it is not kept.
        if (i + 1 == items) fail("the last item is needed, and its end is not known");
        kept[number++] = i;
        names += (uint32_t)strlen(name) + 1;
    }
    if (number < 40) fail("the data has another form than this program knows");
    fwrite(data, 1, header, stdout);
    fwrite(&number, sizeof number, 1, stdout);
    uint32_t name_at = 4 + 8 * number, data_at = padded(name_at + names), start = data_at;
    for (uint32_t k = 0; k < number; k++) {
        uint32_t i = kept[k], length = word(table + 8 + 8 * (i + 1)) - word(table + 8 + 8 * i);
        uint32_t entry[2] = {name_at, data_at};
        fwrite(entry, sizeof entry, 1, stdout);
        name_at += (uint32_t)strlen((const char *)table + word(table + 4 + 8 * i)) + 1;
        data_at += padded(length);
    }
    for (uint32_t k = 0; k < number; k++) {
        const char *name = (const char *)table + word(table + 4 + 8 * kept[k]);
        fwrite(name, 1, strlen(name) + 1, stdout);
    }
    static const uint8_t zeros[16];
    fwrite(zeros, 1, start - name_at, stdout);
    for (uint32_t k = 0; k < number; k++) {
        uint32_t i = kept[k], from = word(table + 8 + 8 * i), length = word(table + 8 + 8 * (i + 1)) - from;
        fwrite(table + from, 1, length, stdout);
        fwrite(zeros, 1, padded(length) - length, stdout);
    }
    if (fflush(stdout) || ferror(stdout)) fail("cannot write");
    return 0;
}
