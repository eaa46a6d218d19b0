/// The expected display of ``ProgressRendererTests/frame``, by the width of the terminal.
extension ProgressRendererTests {
    static let snapshots: [Int: String] = [
        20: #"""
        debian-12.iso   62%
        東京の天…v.gz
        retry.zip       50%
        evil\x1b….bin  100%
        7/12 done, 1…   63%
        """#,
        40: #"""
        debian-12.iso              62%     0:03
        東京の天気-2026-….csv.gz        7.0 MiB
        retry.zip                 retry in 4 s…
        evil\x1b[2J.bin           verifying
        7/12 done, 1 failed        63%     0:03
        """#,
        80: #"""
        debian-12.iso        ━━━━━━━━━━──────   62%    412/654 MiB    88 MiB/s     0:03
        東京の天気-2…csv.gz  ────────────────              7.0 MiB   1.5 KiB/s
        retry.zip            ━━━━━━━━────────   50%  retry in 4 s: 503 Service Unavail…
        evil\x1b[2J.bin      ━━━━━━━━━━━━━━━━  100%            0 B  verifying
        12 downloads         7 done, 1 failed   63%    430/672 MiB    88 MiB/s     0:03
        """#,
        120: #"""
        debian-12.iso                                ━━━━━━━━━━━━━━━━━━━━────────────   62%    412/654 MiB    88 MiB/s     0:03
        東京の天気-2026-11-21-très-long-name.csv.gz  ────────────────────────────────              7.0 MiB   1.5 KiB/s
        retry.zip                                    ━━━━━━━━━━━━━━━━────────────────   50%  retry in 4 s: 503 Service Unavail…
        evil\x1b[2J.bin                              ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━  100%            0 B  verifying
        12 downloads                                 7 done, 1 failed                   63%    430/672 MiB    88 MiB/s     0:03
        """#,
        200: #"""
        debian-12.iso                                ━━━━━━━━━━━━━━━━━━━━━━━━━───────────────   62%    412/654 MiB    88 MiB/s     0:03
        東京の天気-2026-11-21-très-long-name.csv.gz  ────────────────────────────────────────              7.0 MiB   1.5 KiB/s
        retry.zip                                    ━━━━━━━━━━━━━━━━━━━━────────────────────   50%    1.0/2.0 MiB  retry in 4 s: 503 Service Unavailable
        evil\x1b[2J.bin                              ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━  100%            0 B  verifying
        12 downloads                                 7 done, 1 failed                           63%    430/672 MiB    88 MiB/s     0:03
        """#,
    ]
}
