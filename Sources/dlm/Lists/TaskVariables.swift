import ArgumentParser

/// The environment variables in which a workflow engine gives a task its number.
struct TaskVariables {
    private let environment: [String: String]

    init(_ environment: [String: String]) { self.environment = environment }

    private enum Engine: String, CaseIterable {
        case slurm = "SLURM_ARRAY_TASK_ID"
        case kubernetes = "JOB_COMPLETION_INDEX"
        case parallel = "PARALLEL_SEQ"
    }

    /// Returns the shard of this task.
    /// - Parameter count: The given number of shards; nil to read it from the environment.
    /// - Throws: An error that names the missing or wrong variable.
    func shard(of count: Int?) throws -> Shard {
        let engines = Engine.allCases.filter { environment[$0.rawValue]?.isEmpty == false }
        let names = engines.map(\.rawValue).joined(separator: " and ")
        guard let engine = engines.first else {
            let known = Engine.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--shard auto: none of \(known) is set; give --shard I/N")
        }
        if engines.count > 1 { throw ValidationError("--shard auto: \(names) are both set; give --shard I/N") }
        let shard = try shard(of: count, engine)
        guard (0..<shard.count).contains(shard.index) else {
            let hint = engine == .slurm ? "; give the array consecutive numbers, or --shard I/N" : "; give --shard I/N"
            throw ValidationError("--shard auto: \(names) says shard \(shard), which does not exist\(hint)")
        }
        return shard
    }

    private func shard(of count: Int?, _ engine: Engine) throws -> Shard {
        let index = try number(engine.rawValue)
        switch engine {
        case .slurm:
            // If the number of shards is given, the task number is the number of the shard, as with `--array=0-7` and
            // `auto/8`. So a single task can be run again.
            if let count { return Shard(index: index, count: count) }
            let step = environment["SLURM_ARRAY_TASK_STEP"] == nil ? 1 : max(1, try number("SLURM_ARRAY_TASK_STEP"))
            let (first, tasks) = (try number("SLURM_ARRAY_TASK_MIN"), try number("SLURM_ARRAY_TASK_COUNT"))
            guard (index - first) % step == 0 else {
                throw ValidationError(
                    "--shard auto: SLURM_ARRAY_TASK_ID is not in the range of the array; give --shard I/N")
            }
            return Shard(index: (index - first) / step, count: tasks)
        case .kubernetes:
            let hint = "set it to the Job's completions, or give --shard auto/N"
            return Shard(index: index, count: try count ?? number("JOB_COMPLETIONS", because: hint))
        case .parallel:
            guard let count else {
                throw ValidationError(
                    "--shard auto: PARALLEL_SEQ gives the number of this shard, but the number of all shards is "
                        + "unknown; give --shard auto/N")
            }
            // GNU parallel counts from 1.
            return Shard(index: index - 1, count: count)
        }
    }

    private func number(_ name: String, because hint: String = "give --shard I/N") throws -> Int {
        guard let text = environment[name], !text.isEmpty else {
            throw ValidationError("--shard auto: \(name) is not set; \(hint)")
        }
        guard let number = Int(text), (0...Int(Int32.max)).contains(number) else {
            throw ValidationError("--shard auto: \(name) is '\(text)' and not a number; \(hint)")
        }
        return number
    }
}
