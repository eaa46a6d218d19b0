@_exported import DownloadCore
@_exported import DownloadEngine
@_exported import DownloadSystem
